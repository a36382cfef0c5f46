package broker

import (
	"bytes"

	"fiveways/internal/core/job"
	"fiveways/internal/core/queue"
)

func (r *Report) find(s *Session) (*Queue, error) { return s.asJobs(s.readableList(r.Queue, false)) }

func (r *Report) run(sh *shard, q *Queue) error {
	sh.catchUp(q)
	l := q.leaseOf(r.ID, r.Token)
	if l == nil {
		return jobError(ErrStale, q, r.ID)
	}
	if r.Outcome == JobRetry {
		o := op{kind: opRequeue, queue: q, handle: l.Handle, n: 1}
		if r.Backoff > 0 {
			o.due = sh.now + min(r.Backoff, maxDelay)
		}
		sh.requeue(&o)
		return nil
	}
	r.end(sh, q, l)
	sh.mark(q)
	return nil
}

// leaseOf is the lease that a token names, nil when it is over.
func (q *Queue) leaseOf(id []byte, t Token) *job.Lease {
	l := q.jobs.book.Leased(t.handle)
	if l == nil || l.Ended || l.Number != t.number {
		return nil
	}
	if l.Key != q.jobs.keys.Of(id) && string(id) != string(unnamedID(t.handle)) { // it had no name when it was taken, and may have one since
		return nil
	}
	return l
}

// end has the job be through: its message goes, the id is remembered, and what waits behind it comes next.
func (r *Report) end(sh *shard, q *Queue, l *job.Lease) {
	h := l.Handle
	it, _ := q.state.Get(h)
	d := job.Done{ID: string(r.ID), Attempts: it.Count + 1, First: l.First, Logged: q.Durable}
	if r.Backoff > 0 {
		d.Until = sh.now + min(r.Backoff, maxDelay)
		q.jobs.book.Remember(&d)
		if d.Logged {
			sh.recordDone(q, &d)
		}
	} else if q.jobs.book.Remembered(r.ID) == nil {
		q.jobs.book.Mention(&d)
	}
	if key, ok := q.jobs.fronts[h]; ok {
		delete(q.jobs.fronts, h)
		sh.comeForward(q, key, max(d.Until, sh.now))
	}
	if r.Outcome == JobFailed {
		sh.fail(q, h, r.Error)
		return
	}
	q.counts.Acked++
	sh.settle(q, h, 1)
}

// fail disposes of a message whose job failed. That it is dead is recorded first when its letter may have to go to another shard: the report is
// answered before it has arrived there.
func (sh *shard) fail(q *Queue, h queue.Handle, text []byte) {
	if q.picky != nil {
		q.picky.release(h, 1) // a dead letter may take its time
	}
	if q.Policy().DeadLetter {
		if len(text) > 0 {
			sh.noteError(q, h, text)
		}
		if len(sh.b.shards) > 1 {
			sh.recordDead(q, h)
		}
	}
	sh.bury(q, h, reasonRejected)
	sh.doLocal()
}

// noteError puts the text of an error into the headers of a message. One that cannot be read keeps what it has.
func (sh *shard) noteError(q *Queue, h queue.Handle, text []byte) {
	if len(text) > maxJobError {
		text = bytes.ToValidUTF8(text[:maxJobError], nil)
	}
	it, _ := q.state.Get(h)
	expires, due := it.Expires, it.Due
	env, err := sh.loadAnywhere(it)
	if err == nil {
		env, err = withHeader(env, jobErrorHeader, string(text))
	}
	if err == nil {
		sh.replace(q, h, env, expires, due)
	}
}

// recordDead records that a message with somebody is dead.
func (sh *shard) recordDead(q *Queue, h queue.Handle) {
	if q.Policy().insists() {
		sh.holdDead(q, &deadWait{handle: h, reason: reasonRejected})
		return
	}
	sh.putBack(q, h, 1, dueOf(reasonRejected))
	q.state.Hold(h)
}

func (e *Extend) find(s *Session) (*Queue, error) { return s.asJobs(s.readableList(e.Queue, false)) }

func (e *Extend) run(sh *shard, q *Queue) error {
	sh.catchUp(q)
	l := q.leaseOf(e.ID, e.Token)
	if l == nil {
		return jobError(ErrStale, q, e.ID)
	}
	r := leaseRun{q.ID, l.Handle, 1, l.Number, sh.now + min(max(e.Lock, 0), maxDelay)}
	q.jobs.book.Lease(r.handle, 1, r.number, r.until, l.Logged)
	if l.Logged {
		sh.recordLeases(&r)
	}
	sh.mark(q)
	return nil
}
