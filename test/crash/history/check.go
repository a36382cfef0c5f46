package history

import (
	"fmt"
	"maps"
	"slices"
)

// Promises are the rules that the queues of a run must satisfy.
type Promises struct {
	rules   []func(*run) []string
	doubles bool // a message that fell due before a kill may be duplicated by it
}

// Plain holds for queues without special arguments.
var Plain = Promises{rules: []func(*run) []string{
	checkKnown, checkFlag, checkRepeats, checkOrder, checkConfirmed, checkPublishes, checkAcks, checkSettled,
}}

// Check returns the breaches in the history of a finished run, one line each, or nil. The run must
// end with a drain: every queue was emptied, and the messages were recorded as Delivered and Acked.
func (p Promises) Check(events []Event) []string {
	r := index(events)
	r.doubles = p.doubles
	breaches := checkIsolated(r)
	for _, rule := range p.rules {
		breaches = append(breaches, rule(r)...)
	}
	return breaches
}

// place is a message in one queue, the unit that is delivered and settled.
type place struct {
	msg   MsgID
	queue string
}

func (p place) String() string { return fmt.Sprintf("%s in %s", p.msg, p.queue) }

// delivery is one Delivered event.
type delivery struct {
	at          int // index of the event
	round       int
	tx          int // the transaction in which it was delivered, if known
	redelivered bool
	byName      bool // from the Event
	requeued    bool // given back by the consumer afterwards
	requeuedAt  int  // index of that event
	acked       bool // acknowledged afterwards, with or without a transaction
	ackTx       int  // the transaction of that acknowledgement
	count       int  // from the Event
	time        int64
}

// outcome is what a client knows about the outcome of its transaction.
type outcome uint8

const (
	open       outcome = iota // never asked to commit: must have no effect
	rolledBack                // must have no effect
	unknown                   // asked to commit, no answer: must have all its effects or none
	committed                 // must have all its effects
)

// tx is a transaction with everything that belongs to it.
type tx struct {
	outcome     outcome
	begun       int // round
	commitSent  int // index of the event
	committed   int // index of the event
	publishes   []place
	acks        []place
	ackDelivery []int // for each of acks, the index in deliveries of the delivery it settles
}

// run is a history with indexes for the rules.
type run struct {
	events     []Event
	sent       map[place]int // the transaction it was sent in
	places     []place       // keys of sent, in the order of sending
	confirmed  map[MsgID]bool
	deliveries map[place][]delivery
	due        map[place]int64 // the At of Sent
	txs        map[int]*tx
	crashes    []Event
	doubles    bool // from Promises
}

func index(events []Event) *run {
	r := &run{
		events:     events,
		sent:       map[place]int{},
		confirmed:  map[MsgID]bool{},
		deliveries: map[place][]delivery{},
		due:        map[place]int64{},
		txs:        map[int]*tx{},
	}
	round := 0
	transaction := func(id int) *tx {
		if r.txs[id] == nil {
			r.txs[id] = &tx{begun: round}
		}
		return r.txs[id]
	}
	for at, e := range events {
		p := place{e.Msg, e.Queue}
		switch e.Kind {
		case Sent:
			r.sent[p], r.due[p] = e.Tx, e.At
			r.places = append(r.places, p)
			if e.Tx != 0 {
				t := transaction(e.Tx)
				t.publishes = append(t.publishes, p)
			}
		case Confirmed:
			r.confirmed[e.Msg] = true
		case Delivered:
			r.deliveries[p] = append(r.deliveries[p], delivery{
				at: at, round: round, tx: e.Tx, redelivered: e.Redelivered, byName: e.ByName, count: e.Count, time: e.At,
			})
		case Acked:
			n := r.acked(p, e.Tx)
			d := &r.deliveries[p][n]
			d.acked, d.ackTx = true, e.Tx
			if e.Tx != 0 {
				t := transaction(e.Tx)
				t.acks = append(t.acks, p)
				t.ackDelivery = append(t.ackDelivery, n)
			}
		case Requeued:
			last := &r.deliveries[p][len(r.deliveries[p])-1]
			last.requeued, last.requeuedAt = true, at
		case CommitSent:
			t := transaction(e.Tx)
			t.outcome, t.commitSent = unknown, at
		case Committed:
			t := transaction(e.Tx)
			t.outcome, t.committed = committed, at
		case RolledBack:
			transaction(e.Tx).outcome = rolledBack
		case Crashed:
			round++
			r.crashes = append(r.crashes, e)
		}
	}
	return r
}

// acked returns the index of the delivery that is acknowledged in a transaction: the last one in
// that transaction, where messages are delivered in transactions, otherwise the last of all.
func (r *run) acked(p place, tx int) int {
	ds := r.deliveries[p]
	for n, d := range slices.Backward(ds) {
		if tx != 0 && d.tx == tx {
			return n
		}
	}
	return len(ds) - 1
}

// durable reports whether the broker has promised to keep the message.
func (r *run) durable(p place) bool {
	if id := r.sent[p]; id != 0 {
		return r.txs[id].outcome == committed
	}
	return r.confirmed[p.msg]
}

// another reports whether the delivery, which is not the first one of p, may be that of a
// duplicate: the broker was killed after the message fell due and before the delivery, and a kill
// may duplicate messages in transit.
func (r *run) another(p place, d delivery) bool { return r.doubles && r.dueAtKill(p, d) }

// dueAtKill reports whether the broker was killed after the message fell due and before the
// delivery.
func (r *run) dueAtKill(p place, d delivery) bool {
	return d.round > 0 && r.crashes[d.round-1].At >= r.due[p]
}

// transactions returns the numbers of all transactions, in order.
func (r *run) transactions() []int { return slices.Sorted(maps.Keys(r.txs)) }
