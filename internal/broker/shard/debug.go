package shard

import "fiveways.dev/fiveways/internal/storage/store"

// Debug gives tests of higher packages the internals of a shard. Its methods run at the shard.
type Debug struct{ *Shard }

// DebugOf returns the Debug of a shard.
func DebugOf(sh *Shard) Debug { return Debug{sh} }

// UnderWay adds more to the bytes of dead letters in transit to other shards. It returns the sum
// and the number of queues with waiting dead letters.
func (d Debug) UnderWay(more int64) (bytes int64, queues int) {
	d.deadBytes += more
	return d.deadBytes, max(len(d.insisting), int(d.deadQueues.Load()))
}

// Readers returns how many queues have a read-ahead buffer, and how many of these are listed.
func (d Debug) Readers() (open, listed int) {
	for _, q := range d.queues {
		if q.reader.Open() {
			open++
		}
	}
	return open, d.bodies.Listed()
}

// Waiting returns the number of calls that wait at a queue.
func (d Debug) Waiting(q *Queue) int { return q.waiting.Len() }

// HasEarly reports whether a queue has messages that are not in order of arrival.
func (d Debug) HasEarly(q *Queue) bool { return q.early != nil }

// LooksAgain reports whether another attempt is pending for the queue, Selective whether the queue
// dispatches selectively, and Expiring whether it is being deleted because it is unused.
func (d Debug) LooksAgain(q *Queue) bool { return q.selection.posted }
func (d Debug) Selective(q *Queue) bool  { return q.selective != nil }
func (d Debug) Expiring(q *Queue) bool   { return q.expiring }

// Promise returns what a publisher confirm of the queue waits for.
func (d Debug) Promise(q *Queue) store.Wait { return q.promise }

// Pending returns the number of queued ops. Any goroutine may call it.
func (d Debug) Pending() int { return d.inbox.Len() }

// KeepFew sets how many implicit queues are kept for the longer idle time.
func (d Debug) KeepFew(n int) { d.implicits.few = n }

// LetIdleGo removes idle implicit queues without waiting for their time.
func (d Debug) LetIdleGo() {
	for l := d.implicits.First(); l != nil; {
		next := d.implicits.Next(l)
		if l.q.idle(d.now) {
			d.letGo(l.q)
		}
		l = next
	}
}

// NewDebugQueue returns an ordered queue that only its virtual host knows.
func NewDebugQueue(id uint64, in *VHost, on *Shard) *Queue {
	q := &Queue{vhost: in, shard: on}
	q.ID = id
	in.orderOn(q)
	return q
}
