package deadletter

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"fiveways.dev/fiveways/internal/core/queue"
)

const (
	backoffMin = 1_000  // ms until the second attempt; each further wait is twice as long,
	backoffMax = 30_000 // at most this long
	window     = 64     // messages of one key that are in transit at a time
)

// Waiting is a dead message that waits in its queue, unacked and lent to no session.
type Waiting struct {
	Handle queue.Handle
	Reason Reason
	Taken  []uint64 // ids of queues that already have it
}

// row holds the waiting dead messages of a queue with the same routing key, in queue order.
type row struct {
	waiting  []Waiting
	underWay int   // sent but not yet answered
	at       int64 // unix ms of the next attempt
	backoff  int64 // ms waited after the last failure; 0 if the last attempt succeeded
}

// Backlog holds the dead messages of a queue that wait because a target has not accepted them, and
// the rows with messages in transit. It belongs to the queue's shard.
type Backlog struct {
	rows      map[string]*row // by routing key
	recovered []Waiting       // found at the start, in queue order: their keys are not known yet
	held      int             // messages in the queue that are recorded as dead
	at        int64           // unix ms before which no row needs attention
}

// NewBacklog returns a backlog of the messages that were recorded as dead at the start, in queue
// order.
func NewBacklog(recovered []Waiting) *Backlog {
	b := &Backlog{rows: map[string]*row{}, recovered: recovered, held: len(recovered), at: math.MaxInt64}
	if len(recovered) > 0 {
		b.at = 0
	}
	return b
}

// Held returns how many messages in the queue are recorded as dead. Hold and Unhold maintain it.
func (b *Backlog) Held() int { return b.held }
func (b *Backlog) Hold()     { b.held++ }
func (b *Backlog) Unhold()   { b.held-- }

// At returns the time in unix ms before which no attempt is due, or math.MaxInt64 if none will be.
func (b *Backlog) At() int64 { return b.at }

// Empty reports whether no message waits, is in transit or is recorded as dead.
func (b *Backlog) Empty() bool { return len(b.rows) == 0 && len(b.recovered) == 0 && b.held == 0 }

// Waits reports whether messages with a routing key wait, so that further ones must queue behind
// them.
func (b *Backlog) Waits(key string) bool {
	r := b.rows[key]
	return r != nil && len(r.waiting) > 0
}

// Add adds a message at its position in the row of a key.
func (b *Backlog) Add(key string, w Waiting) { b.add(key, w) }

func (b *Backlog) add(key string, w Waiting) *row {
	r := b.rows[key]
	if r == nil {
		r = &row{}
		b.rows[key] = r
	}
	at, _ := slices.BinarySearchFunc(r.waiting, w.Handle, func(have Waiting, h queue.Handle) int {
		return cmp.Or(cmp.Compare(have.Handle, h), 1)
	})
	r.waiting = slices.Insert(r.waiting, at, w)
	return r
}

// Failed is Add for a message that no target accepted. It delays the next attempt, once for all
// messages that fail together.
func (b *Backlog) Failed(key string, w Waiting, now int64) {
	r := b.add(key, w)
	if r.at <= now {
		r.backoff = min(max(2*r.backoff, backoffMin), backoffMax)
		r.at = now + r.backoff
	}
	b.at = min(b.at, r.at)
}

// Due removes and yields messages whose attempt is due, one at a time, while more returns true; row
// is false for those whose key is unknown. The caller may change the backlog meanwhile.
func (b *Backlog) Due(now int64, more func() bool) iter.Seq2[Waiting, bool] {
	return func(yield func(w Waiting, row bool) bool) {
		for len(b.recovered) > 0 && more() {
			w := b.recovered[0]
			b.recovered = b.recovered[1:]
			if !yield(w, false) {
				return
			}
		}
		for _, r := range b.rows {
			for r.ready(now) && more() {
				w := r.waiting[0]
				r.waiting[0] = Waiting{}
				r.waiting = r.waiting[1:]
				if !yield(w, true) {
					return
				}
			}
		}
	}
}

// ready reports whether the first message of a row may be sent now.
func (r *row) ready(now int64) bool { return len(r.waiting) > 0 && r.underWay < window && r.at <= now }

// Sent records that a message that Due yielded from a row is in transit.
func (b *Backlog) Sent(key string) { b.rows[key].underWay++ }

// Answered records that a sent message has been accepted or has failed.
func (b *Backlog) Answered(key string) { b.rows[key].underWay-- }

// Arrived records that the row's targets accept messages again, which resets the backoff.
func (b *Backlog) Arrived(key string) {
	if r := b.rows[key]; r != nil {
		r.backoff = 0
	}
}

// Tidy drops finished rows and computes the time of At.
func (b *Backlog) Tidy() {
	b.at = math.MaxInt64
	if len(b.recovered) > 0 {
		b.at = 0
	}
	for key := range b.rows {
		b.TidyRow(key)
	}
}

// TidyRow is Tidy for one row; it can make At earlier, not later.
func (b *Backlog) TidyRow(key string) {
	switch r := b.rows[key]; {
	case r == nil:
	case len(r.waiting) == 0 && r.underWay == 0:
		delete(b.rows, key)
	case len(r.waiting) > 0 && r.underWay < window:
		b.at = min(b.at, r.at)
	}
}

// Hasten makes all messages due, because routes may have changed.
func (b *Backlog) Hasten() {
	for _, r := range b.rows {
		r.at, r.backoff = 0, 0
	}
	b.at = 0
}
