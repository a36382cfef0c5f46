package shardstate

import (
	"fiveways.dev/fiveways/internal/core/dedup"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// Only the code in this file and in stream.go changes the durable state of a queue, after a call of
// changes. Functions named gone are called for each message that a change removes.

// changes copies the queue for the checkpoint that lacks it.
func (q *Queue) changes() {
	if f := q.copyTo; f != nil {
		q.copyTo = nil
		f.take(q)
	}
}

// put adds a message at the position in t. A sequence number of 0 means the next one, which put
// stores in t. env may be nil, if the body is only in the log.
func (q *Queue) put(t *Target, it *queue.Item) {
	q.changes()
	it.Handle, it.Expires = t.Handle, t.Expires
	t.Handle = q.State.Publish(it)
}

// settle settles those of the n contiguous messages from h on that exist.
func (q *Queue) settle(h queue.Handle, n int, gone func(*queue.Item)) int {
	q.changes()
	found := q.State.SettleRange(h, n, gone)
	q.settled(h, n)
	return found
}

// settled removes the other data of settled messages: entries of a stream, leases.
func (q *Queue) settled(h queue.Handle, n int) {
	if q.Stream != nil {
		q.Stream.Delete(h, n)
	}
	if q.Jobs != nil {
		q.Jobs.End(h, n)
	}
}

// purge settles all ready messages, and calls each for every run of contiguous messages.
func (q *Queue) purge(each func(h queue.Handle, n int), gone func(*queue.Item)) {
	q.changes()
	q.State.Purge(func(h queue.Handle, n int) {
		q.settled(h, n)
		each(h, n)
	}, gone)
}

// giveBack counts a return of each of n contiguous messages in any status, because the log does not
// record deliveries. The messages are then ready, or scheduled if due (Unix ms) is not 0. It
// returns how many exist.
func (q *Queue) giveBack(h queue.Handle, n int, due int64) (found int) {
	q.changes()
	if q.Jobs != nil {
		q.Jobs.End(h, n)
	}
	for i := range queue.Handle(n) {
		if it, status := q.State.Get(h + i); status != queue.Gone {
			q.State.Return(h+i, it.Count+1, due)
			found++
		}
	}
	return found
}

// reschedule changes the time of a scheduled message, and reports whether it exists.
func (q *Queue) reschedule(h queue.Handle, due int64) bool {
	q.changes()
	return q.State.Reschedule(h, due)
}

// recount sets a message's count of returns.
func (q *Queue) recount(h queue.Handle, count uint32) {
	q.changes()
	q.State.Recount(h, count)
}

// replace replaces a message by another one, and returns the old one.
func (q *Queue) replace(h queue.Handle, it *queue.Item) (old queue.Item, ok bool) {
	q.changes()
	return q.State.Replace(h, it)
}

// remember adds a key, if the queue de-duplicates.
func (q *Queue) remember(k *Key) {
	q.changes()
	if q.Keys != nil {
		q.Keys.Remember(dedup.Key(k.Key), k.At, k.Until)
	}
}

// keepLedger returns the job ledger of the queue for a change, and creates it if needed.
func (q *Queue) keepLedger() *job.Ledger {
	q.changes()
	if q.Jobs == nil {
		q.Jobs = job.NewLedger()
	}
	return q.Jobs
}

// useForJobs records that the queue is used for jobs.
func (q *Queue) useForJobs() { q.keepLedger().Used = true }

// lease leases existing contiguous messages. logged means that the leases survive a restart.
func (q *Queue) lease(l *leases, logged bool) {
	for i := range l.n {
		if h := l.handle + queue.Handle(i); q.State.Status(h) != queue.Gone {
			q.keepLedger().Lease(h, 1, l.number+uint64(i), l.until, logged)
		}
	}
}

// done remembers the id of a finished job or, if Until is 0, forgets it.
func (q *Queue) done(d *job.Done) {
	if d.Until == 0 {
		q.keepLedger().Forget(d.ID)
	} else {
		q.keepLedger().Remember(d)
	}
}

// makeStream turns an empty queue into a stream.
func (q *Queue) makeStream() *stream.Stream {
	if q.Stream == nil {
		q.Stream = &stream.Stream{}
	}
	return q.Stream
}

// endStream turns a stream into an empty queue.
func (q *Queue) endStream(gone func(*queue.Item)) {
	if first, last, ok := q.Stream.Handles(); ok {
		q.State.SettleRange(first, int(last-first)+1, gone)
	}
	q.Stream = nil
}

// trimStream removes the entries before a handle.
func (q *Queue) trimStream(before queue.Handle, gone func(*queue.Item)) {
	s := q.Stream
	if first, ok := s.Find(s.FirstEntry()); ok && first < before {
		q.State.SettleRange(first, int(before-first), gone)
		s.Trim(before)
	}
}
