package history

import "fmt"

// QueueAct is the kind of a QueueEvent.
type QueueAct uint8

// The kinds of events at a queue that is used through keys.
const (
	QueuePut      QueueAct = iota // a message is about to be put
	QueueAnswered                 // its put was answered
	QueueGot                      // a consumer got it, with its place
	QueueAcking                   // a consumer is about to delete it
	QueueAcked                    // the delete was answered: one key
	QueueLeft                     // a consumer is about to leave, with messages unacknowledged
	QueueGone                     // it is known to have left; until then it may get messages
	QueueKilled                   // the broker was killed
)

var queueActNames = [...]string{"put", "answered", "got", "acking", "acked", "left", "gone", "killed"}

func (a QueueAct) String() string { return queueActNames[a] }

// QueueEvent is one thing that a client did or saw.
type QueueEvent struct {
	Act      QueueAct
	Msg      string
	Consumer string
	Place    int64 // the index in the key of a delivery
}

func (e QueueEvent) String() string {
	return fmt.Sprintf("%s %s %s %d", e.Act, e.Msg, e.Consumer, e.Place)
}

// Queue is the record of a run with a queue that is used through keys. Its methods are safe for
// concurrent use.
type Queue struct{ record[QueueEvent] }

// keyQueue is the state of the queue at one point of its history.
type keyQueue struct {
	n        int            // of the current event
	put      map[string]int // when it was put; by message
	answered map[string]int
	holder   map[string]string    // the client that got the message and has neither acknowledged it nor left
	place    map[string]int64     // of each message
	at       map[int64]string     // the message of each place
	acked    map[string]bool      // a delete of it was answered
	last     map[string]lastPlace // the last delivery of each consumer
	acking   map[string]bool      // a client was about to delete it
	owed     map[string]bool      // a consumer got it, and it must be delivered again
	highest  int64                // the highest place so far
	above    map[string]int64     // the highest place when the message was put
	leaving  map[string]bool      // consumers that are about to leave
	back     int                  // when messages may last have been returned
	breaches []string
}

type lastPlace struct {
	place int64
	msg   string
}

// CheckKeyQueue returns the breaches in the history of a queue that was drained at its end. No
// message whose put was answered or that a consumer got is lost. A message's place is unique, and
// above all places that were delivered before its put. A message is held by one consumer at a time.
// An acknowledged message is never redelivered. A consumer gets messages in order, except returned
// ones.
func CheckKeyQueue(events []QueueEvent) []string {
	q := &keyQueue{
		put: map[string]int{}, answered: map[string]int{}, holder: map[string]string{}, place: map[string]int64{}, at: map[int64]string{},
		acked: map[string]bool{}, last: map[string]lastPlace{}, leaving: map[string]bool{}, back: -1,
		acking: map[string]bool{}, owed: map[string]bool{}, above: map[string]int64{},
	}
	for n, e := range events {
		q.n = n
		q.see(e)
	}
	for msg := range q.answered {
		if _, got := q.place[msg]; !got {
			q.breach("%s is lost: its put was answered, and no consumer got it", msg)
		} else if who := q.holder[msg]; who != "" && !q.acked[msg] {
			q.breach("%s was never acknowledged, though the queue is empty; %s had it", msg, who)
		}
	}
	for msg := range q.owed {
		q.breach("%s is lost: a consumer was told of it", msg)
	}
	return q.breaches
}

func (q *keyQueue) breach(format string, args ...any) {
	q.breaches = append(q.breaches, fmt.Sprintf("event %d: ", q.n)+fmt.Sprintf(format, args...))
}

func (q *keyQueue) see(e QueueEvent) {
	switch e.Act {
	case QueuePut:
		q.put[e.Msg], q.above[e.Msg] = q.n, q.highest
	case QueueAnswered:
		q.answered[e.Msg] = q.n
	case QueueGot:
		q.got(e)
	case QueueAcking:
		q.acking[e.Msg] = true
	case QueueAcked:
		q.acked[e.Msg] = true
		delete(q.holder, e.Msg)
	case QueueLeft:
		for msg, who := range q.holder {
			if who == e.Consumer {
				q.owe(msg)
			}
		}
		q.leaving[e.Consumer] = true
	case QueueGone:
		delete(q.leaving, e.Consumer)
		q.back = q.n
	case QueueKilled:
		for msg := range q.holder {
			q.owe(msg)
		}
		clear(q.last)
		clear(q.leaving)
		q.back = q.n
	}
}

// owe records that a delivered message must be delivered again, unless its deletion was requested.
func (q *keyQueue) owe(msg string) {
	delete(q.holder, msg)
	if !q.acking[msg] {
		q.owed[msg] = true
	}
}

func (q *keyQueue) got(e QueueEvent) {
	if _, ok := q.put[e.Msg]; !ok {
		q.breach("%s was never put", e.Msg)
	}
	if q.acked[e.Msg] {
		q.breach("%s comes again to %s after it was acknowledged", e.Msg, e.Consumer)
	}
	if who, held := q.holder[e.Msg]; held && who != e.Consumer {
		q.breach("%s comes to %s while %s has it", e.Msg, e.Consumer, who)
	}
	if place, known := q.place[e.Msg]; known && place != e.Place {
		q.breach("%s had place %d and has %d", e.Msg, place, e.Place)
	}
	if other, taken := q.at[e.Place]; taken && other != e.Msg {
		q.breach("%s and %s both have place %d", other, e.Msg, e.Place)
	}
	if e.Place <= q.above[e.Msg] {
		q.breach("%s has place %d, and was put when place %d was given", e.Msg, e.Place, q.above[e.Msg])
	}
	q.highest = max(q.highest, e.Place)
	delete(q.owed, e.Msg)
	q.inOrder(e)
	q.holder[e.Msg], q.place[e.Msg], q.at[e.Place] = e.Consumer, e.Place, e.Msg
	q.last[e.Consumer] = lastPlace{e.Place, e.Msg}
}

// inOrder checks that places increase for each consumer, together with the times of the puts. A
// message may come late if a message was returned after its put.
func (q *keyQueue) inOrder(e QueueEvent) {
	last, ok := q.last[e.Consumer]
	if !ok {
		return
	}
	if e.Place < last.place && q.back < q.put[e.Msg] && len(q.leaving) == 0 {
		q.breach("%s (place %d) comes to %s after %s (place %d)", e.Msg, e.Place, e.Consumer, last.msg, last.place)
	}
	if answered, ok := q.answered[last.msg]; ok && last.place > e.Place && answered < q.put[e.Msg] {
		q.breach("%s was put after %s was answered, and stands before it", e.Msg, last.msg)
	}
}
