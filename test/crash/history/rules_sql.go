package history

import "fmt"

// SQL holds for the queues of the SQL protocol, whose transactions consume and post. Messages have
// no redelivered flag, and with several consumers the order of recording is not the order of
// delivery. A separate rule covers messages that wait for others.
var SQL = Promises{rules: []func(*run) []string{
	checkKnown, checkRepeats, checkConfirmed, checkPublishes, checkAcks, checkWhole, checkSettled, checkAfter, checkNames,
}}

// SQLBroken is SQL for runs in which connections may break without a kill. Then another client gets
// what a client holds before the latter notices: a message may be delivered twice without having
// been returned.
var SQLBroken = Promises{rules: []func(*run) []string{
	checkKnown, checkConfirmed, checkPublishes, checkAcks, checkWhole, checkSettled, checkAfter, checkNames,
}}

// checkWhole checks that for a transaction with an unknown outcome, what it consumed is gone if and
// only if what it posted exists.
func checkWhole(r *run) (breaches []string) {
	for _, id := range r.transactions() {
		t := r.txs[id]
		if t.outcome != unknown {
			continue
		}
		back, survived := 0, 0
		for n, p := range t.acks {
			if r.durable(p) && r.back(p, t.ackDelivery[n]) {
				back++
			}
		}
		for _, p := range t.publishes {
			if ds := r.deliveries[p]; len(ds) > 0 && ds[len(ds)-1].round > t.begun {
				survived++
			}
		}
		if back > 0 && survived > 0 {
			breaches = append(breaches, fmt.Sprintf("tx %d half applied: %d of its messages came, and %d that it consumed came back", id, survived, back))
		}
	}
	return breaches
}

// checkAfter checks that a message that waits for others is not delivered while one of them is in
// any queue, unless it is requested by name.
func checkAfter(r *run) (breaches []string) {
	after, queues := map[MsgID][]MsgID{}, map[MsgID][]place{}
	for _, e := range r.events {
		if e.Kind == Sent {
			after[e.Msg] = e.After
		}
		if e.Kind == Sent && !e.Copy {
			queues[e.Msg] = append(queues[e.Msg], place{e.Msg, e.Queue})
		}
	}
	for p, ds := range r.deliveries {
		for _, first := range after[p.msg] {
			for _, other := range queues[first] {
				for _, d := range ds {
					if !d.byName && r.precedes(other, p, d.at) && r.waits(other, d) {
						breaches = append(breaches, fmt.Sprintf("delivered in tx %d while %s was there: %s", d.tx, other, p))
					}
				}
			}
		}
	}
	return breaches
}

// precedes reports whether the message of first was in its queue before the event at, at which the
// message of then was delivered.
func (r *run) precedes(first, then place, at int) bool {
	t := r.txs[r.sent[first]]
	if t == nil || t.outcome < unknown {
		return false
	}
	return r.sent[first] == r.sent[then] || t.outcome == committed && t.committed < at
}

// waits reports whether p was still in its queue when d delivered another message.
func (r *run) waits(p place, d delivery) bool {
	var last, next *delivery
	for n := range r.deliveries[p] {
		if other := &r.deliveries[p][n]; other.at < d.at {
			last = other
		} else if next == nil {
			next = other
		}
	}
	switch {
	case last == nil:
		return true // even if it was never delivered: then it is lost, which another rule reports
	case last.tx == d.tx && (!last.requeued || last.requeuedAt > d.at):
		return false // its own transaction had consumed it
	case last.acked && r.txs[last.ackTx].outcome >= unknown && r.txs[last.ackTx].commitSent < d.at:
		// It may be gone, or be there again after a kill that came before its removal was on disk.
		return next != nil && (next.round == d.round || last.round < d.round)
	}
	return true
}

// checkNames checks that no name is given twice, and that a message keeps its name. A copy gets its
// name from the server, and keeps the name of its first delivery.
func checkNames(r *run) (breaches []string) {
	owner, name, copies := map[string]any{}, map[any]string{}, map[place]bool{}
	give := func(key string, to any) {
		if other, given := owner[key]; given {
			breaches = append(breaches, fmt.Sprintf("name %s given to %s and to %s", key, other, to))
		}
		owner[key], name[to] = to, key
	}
	for _, e := range r.events {
		at := place{e.Msg, e.Queue}
		switch {
		case e.Kind == Named:
			give(e.Key, e.Msg)
		case e.Kind == Sent && e.Copy:
			copies[at] = true
		case e.Kind == Delivered && copies[at]:
			if name[at] == "" && e.Key != "" {
				give(e.Key, at)
			} else if name[at] != e.Key {
				breaches = append(breaches, fmt.Sprintf("%s was named %s and came as %s", at, name[at], e.Key))
			}
		case e.Kind == Delivered && name[e.Msg] != "" && name[e.Msg] != e.Key:
			breaches = append(breaches, fmt.Sprintf("%s was named %s and came as %s", e.Msg, name[e.Msg], e.Key))
		}
	}
	return breaches
}
