package broker

import (
	"errors"

	"fiveways/internal/core/job"
	"fiveways/internal/core/queue"
)

func (t *Take) find(s *Session) (*Queue, error) {
	t.Jobs = t.Jobs[:0]
	return s.asJobs(s.readableList(t.Queue, t.Create))
}

// others implements spanning: what those before it got must be known.
func (t *Take) others(fn func(*Queue)) {
	for u := t.Unless; u != nil; u = u.Unless {
		if u.queue != nil {
			fn(u.queue)
		}
	}
}

// settled tells that nothing is left to be done by those that depend on it.
func (t *Take) settled() bool {
	return t.got() || t.Err != nil && !errors.Is(t.Err, ErrQueueNotFound) || t.Unless != nil && t.Unless.settled()
}

func (t *Take) run(sh *shard, q *Queue) error {
	clear(t.Jobs)
	t.Jobs = t.Jobs[:0]
	if t.Unless != nil && t.Unless.settled() {
		return nil
	}
	sh.catchUp(q)
	sh.forgetDone(q)
	var run leaseRun
	for size := 0; len(t.Jobs) < max(t.Max, 1) && size < fetchBytes; {
		it, again := sh.getNext(q, false)
		if it == nil && again {
			continue
		}
		if it == nil {
			break
		}
		size += len(it.Env)
		t.Jobs = append(t.Jobs, sh.lease(q, it, t.Lock, &run))
	}
	sh.recordLeases(&run)
	if len(t.Jobs) > 0 {
		sh.mark(q)
	}
	return nil
}

// lease leases a message that was just lent.
func (sh *shard) lease(q *Queue, it *queue.Item, lock int64, run *leaseRun) Job {
	j := q.jobs
	first, own := jobTimes(it.Env)
	switch {
	case own > 0:
		lock = own
	case lock <= 0:
		lock = DefaultLock
	}
	lock = min(lock, maxDelay)
	h, logged := it.Handle, isLogged(it)
	taken := Job{Env: it.Env, Attempt: it.Count + 1, Token: Token{h, j.book.Next()}, Lock: lock, First: first}
	taken.ID = q.jobID(messageID(it.Env), h)
	j.book.Lease(h, 1, taken.Token.number, sh.now+lock, logged)
	l := j.book.Leased(h)
	l.Key, l.First = j.keys.Of(taken.ID), first
	if logged {
		sh.joinLeases(run, &leaseRun{q.ID, h, 1, l.Number, l.Until})
	}
	sh.got(q, it, false)
	return taken
}

// joinLeases records a lease, together with neighbours before it.
func (sh *shard) joinLeases(run, next *leaseRun) {
	if n := uint64(run.n); n > 0 && run.queue == next.queue && run.handle+queue.Handle(n) == next.handle && run.number+n == next.number &&
		run.until == next.until {
		run.n++
		return
	}
	sh.recordLeases(run)
	*run = *next
}

func (sh *shard) recordLeases(run *leaseRun) {
	if run.n > 0 {
		sh.entry.data = appendLease(sh.entry.data, run)
		sh.sub++
	}
}

// forgetDone forgets the ids whose time is over.
func (sh *shard) forgetDone(q *Queue) {
	q.jobs.book.ForgetPassed(sh.now, func(d *job.Done) { sh.recordDone(q, &job.Done{ID: d.ID}) })
}

// recordDone records what is remembered of an id.
func (sh *shard) recordDone(q *Queue, d *job.Done) {
	sh.entry.data = appendDone(sh.entry.data, q.ID, d)
	sh.sub++
}
