package broker

import (
	"math"
	"slices"

	"fiveways/internal/core/queue"
)

// Dead letters that must arrive (QueuePolicy.AtLeastOnce) and that nobody took
// wait in their queue: unacked, lent to nobody. That they are dead is recorded
// as a time before which they are not delivered: the end of time, by reason of
// death.
const deadDue = int64(1) << 62

// deadReasons are in the log by their place; never change it.
var deadReasons = [...]string{reasonRejected, reasonExpired, reasonMaxLength, reasonDeliveryLimit}

// dueOf is the time that stands for a reason.
func dueOf(reason string) int64 { return deadDue + int64(slices.Index(deadReasons[:], reason)) }

// reasonOf is the inverse of dueOf; ok is false for a time of the living.
func reasonOf(due int64) (reason string, ok bool) {
	i := due - deadDue
	if i < 0 || i >= int64(len(deadReasons)) {
		return "", false
	}
	return deadReasons[i], true
}

const (
	deadBackoffMin = 1_000  // ms until the second attempt; each further one waits twice as long,
	deadBackoffMax = 30_000 // up to this
	deadWindow     = 64     // letters of one row that are under way at a time
	deadStep       = 1024   // attempts in one go
)

// deadWait is a dead letter that waits.
type deadWait struct {
	handle queue.Handle
	reason string
	taken  []uint64 // ids of queues that have it already
}

// deadRow is the dead letters of a queue with one routing key that wait, in
// queue order. They have the same way to go, so that one that fails stands for
// those behind it, and other keys are not held up.
type deadRow struct {
	waiting []deadWait
	out     int   // under way to other shards
	at      int64 // unix ms of the next attempt
	backoff int64 // ms, of the last failure; 0 when the last one arrived
}

// deadBacklog is all the dead letters of a queue that wait, and rows that have
// some under way.
type deadBacklog struct {
	rows      map[string]*deadRow // by routing key
	recovered []deadWait          // found at the start, in queue order: their keys are not known yet
	held      int                 // messages in the queue that are recorded as dead
	at        int64               // unix ms: no row is to be looked at earlier
}

// add puts a letter in its place in the row of key.
func (d *deadBacklog) add(key string, w deadWait) *deadRow {
	r := d.rows[key]
	if r == nil {
		r = &deadRow{}
		d.rows[key] = r
	}
	at, _ := slices.BinarySearchFunc(r.waiting, w.handle, func(have deadWait, h queue.Handle) int {
		if have.handle < h {
			return -1
		}
		return 1
	})
	r.waiting = slices.Insert(r.waiting, at, w)
	return r
}

// take removes the first letter of a row that may go now.
func (d *deadBacklog) take(r *deadRow, now int64) (w deadWait, ok bool) {
	if len(r.waiting) == 0 || r.out >= deadWindow || r.at > now {
		return w, false
	}
	w = r.waiting[0]
	r.waiting[0] = deadWait{}
	r.waiting = r.waiting[1:]
	return w, true
}

// failed puts the next attempt off, once for all that fail together.
func (r *deadRow) failed(now int64) {
	if r.at <= now {
		r.backoff = min(max(2*r.backoff, deadBackoffMin), deadBackoffMax)
		r.at = now + r.backoff
	}
}

// tidy drops rows that are done with and finds out when to look again.
func (d *deadBacklog) tidy() {
	d.at = math.MaxInt64
	if len(d.recovered) > 0 {
		d.at = 0
	}
	for key := range d.rows {
		d.tidyRow(key)
	}
}

// tidyRow is tidy for one row; when to look again may get earlier by it, not
// later.
func (d *deadBacklog) tidyRow(key string) {
	switch r := d.rows[key]; {
	case r == nil:
	case len(r.waiting) == 0 && r.out == 0:
		delete(d.rows, key)
	case len(r.waiting) > 0 && r.out < deadWindow:
		d.at = min(d.at, r.at)
	}
}

// hasten makes all of them due.
func (d *deadBacklog) hasten() {
	for _, r := range d.rows {
		r.at, r.backoff = 0, 0
	}
	d.at = 0
}
