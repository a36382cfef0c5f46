package shardstate

import (
	"fiveways.dev/fiveways/internal/core/dedup"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// This file is the only code that changes the state of a queue. A function named gone gets each
// message that a change ends.

// put adds a message at the place that t names. With a sequence number of 0 it is the next one, and
// t is told. env may be nil: the body is in the log only.
func (q *Queue) put(t *Target, it *queue.Item) {
	it.Handle, it.Expires = t.Handle, t.Expires
	t.Handle = q.State.Publish(it)
}

// settle ends the n contiguous messages from h on, as far as they are there.
func (q *Queue) settle(h queue.Handle, n int, gone func(*queue.Item)) int {
	found := q.State.SettleRange(h, n, gone)
	q.settled(h, n)
	return found
}

// settled ends what else there is of messages that are gone: entries of a stream, leases.
func (q *Queue) settled(h queue.Handle, n int) {
	if q.Stream != nil {
		q.Stream.Delete(h, n)
	}
	if q.Jobs != nil {
		q.Jobs.End(h, n)
	}
}

// purge settles all that is ready, and tells each of every run of contiguous messages.
func (q *Queue) purge(each func(h queue.Handle, n int), gone func(*queue.Item)) {
	q.State.Purge(func(h queue.Handle, n int) {
		q.settled(h, n)
		each(h, n)
	}, gone)
}

// giveBack counts a return of each of n contiguous messages, wherever it stands, for deliveries are
// not in the log. They are ready, or scheduled when due (Unix ms) is not 0. It returns how many
// are there.
func (q *Queue) giveBack(h queue.Handle, n int, due int64) (found int) {
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

// reschedule gives a scheduled message another time, and reports whether there is one.
func (q *Queue) reschedule(h queue.Handle, due int64) bool { return q.State.Reschedule(h, due) }

// recount sets how often a message came back.
func (q *Queue) recount(h queue.Handle, count uint32) { q.State.Recount(h, count) }

// replace puts another message in the place of one, and returns that one.
func (q *Queue) replace(h queue.Handle, it *queue.Item) (old queue.Item, ok bool) {
	return q.State.Replace(h, it)
}

// remember takes in a key, where the queue remembers any.
func (q *Queue) remember(k *Key) {
	if q.Keys != nil {
		q.Keys.Remember(dedup.Key(k.Key), k.At, k.Until)
	}
}

// keepLedger begins the job ledger of a queue that has none.
func (q *Queue) keepLedger() *job.Ledger {
	if q.Jobs == nil {
		q.Jobs = job.NewLedger()
	}
	return q.Jobs
}

// useForJobs notes that the queue is used for jobs.
func (q *Queue) useForJobs() { q.keepLedger().Used = true }

// lease leases contiguous messages that are there. logged: a restart does not end the leases.
func (q *Queue) lease(l *leases, logged bool) {
	for i := range l.n {
		if h := l.handle + queue.Handle(i); q.State.Status(h) != queue.Gone {
			q.keepLedger().Lease(h, 1, l.number+uint64(i), l.until, logged)
		}
	}
}

// done remembers an id of a job that is over, or with an Until of 0 forgets it.
func (q *Queue) done(d *job.Done) {
	if d.Until == 0 {
		q.keepLedger().Forget(d.ID)
	} else {
		q.keepLedger().Remember(d)
	}
}

// makeStream makes an empty queue a stream.
func (q *Queue) makeStream() *stream.Stream {
	if q.Stream == nil {
		q.Stream = &stream.Stream{}
	}
	return q.Stream
}

// endStream makes a stream an empty queue.
func (q *Queue) endStream(gone func(*queue.Item)) {
	if first, last, ok := q.Stream.Handles(); ok {
		q.State.SettleRange(first, int(last-first)+1, gone)
	}
	q.Stream = nil
}

// trimStream ends the entries before one.
func (q *Queue) trimStream(before queue.Handle, gone func(*queue.Item)) {
	s := q.Stream
	if first, ok := s.Find(s.FirstEntry()); ok && first < before {
		q.State.SettleRange(first, int(before-first), gone)
		s.Trim(before)
	}
}
