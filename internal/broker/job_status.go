package broker

import (
	"fiveways/internal/core/job"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

func (st *JobStatus) find(s *Session) (*Queue, error) {
	return s.asJobs(s.readableList(st.Queue, false))
}

func (st *JobStatus) run(sh *shard, q *Queue) error {
	sh.catchUp(q)
	k := q.knowJob(st.ID)
	st.JobInfo = sh.describeJob(q, &k, nil)
	return nil
}

// describeJob tells what is known of an id. env is its message when the caller has it at hand, else it is read where that is needed.
func (sh *shard) describeJob(q *Queue, k *knownJob, env message.Envelope) JobInfo {
	info := JobInfo{ID: k.id, State: k.state(sh.now)}
	if k.done != nil {
		info.Attempts, info.First, info.Backoff = k.done.Attempts, k.done.First, max(k.done.Until-sh.now, 0)
	}
	if !k.found {
		return info
	}
	it, status := q.state.Get(k.h)
	info.Size = int(it.Size)
	if env == nil {
		env, _ = sh.loadAnywhere(it) // one that cannot be read does not say when
	}
	info.Priority = jobPriority(env)
	if info.State == job.DoneWithRequeue {
		return info
	}
	info.Attempts, info.Backoff = it.Count, 0
	if env != nil {
		info.First, _ = jobTimes(env)
	}
	switch status {
	case queue.Scheduled:
		info.Backoff = max(it.Due-sh.now, 0)
	case queue.Unacked:
		info.Attempts++
		if l := q.jobs.book.Leased(k.h); l != nil {
			info.Lock = max(l.Until-sh.now, 0)
		}
	}
	return info
}

func (r *Remember) find(s *Session) (*Queue, error) {
	if len(r.ID) > MaxJobID {
		return nil, &Error{Err: ErrTooLarge, Kind: "job", Name: string(r.ID)}
	}
	return s.asJobs(s.writable(r.Queue, true))
}

func (r *Remember) run(sh *shard, q *Queue) error {
	sh.catchUp(q)
	k := q.knowJob(r.ID)
	switch k.state(sh.now) {
	case job.Queued, job.QueuedWithBackoff, job.DoneWithRequeue:
		return jobError(ErrAlreadyQueued, q, r.ID)
	case job.Locked, job.LockedWithRequeue:
		return jobError(ErrLocked, q, r.ID)
	case job.DoneWithBackoff:
		if k.done.Until >= r.Until {
			return nil
		}
	}
	d := job.Done{ID: string(r.ID), Until: max(r.Until, 1), Attempts: r.Attempts, First: max(r.First, 0), Logged: q.Durable}
	q.jobs.book.Remember(&d)
	if d.Logged {
		sh.recordDone(q, &d)
	}
	return nil
}

func (c *Cancel) find(s *Session) (*Queue, error) { return s.asJobs(s.readableList(c.Queue, false)) }

func (c *Cancel) run(sh *shard, q *Queue) error {
	c.Cancelled = false
	sh.catchUp(q)
	k := q.knowJob(c.ID)
	switch k.state(sh.now) {
	case job.Queued, job.QueuedWithBackoff, job.DoneWithRequeue:
	case job.Locked, job.LockedWithRequeue:
		if !c.Force || q.jobs.book.Leased(k.h) == nil {
			return jobError(ErrLocked, q, c.ID)
		}
	default:
		return nil
	}
	c.Cancelled = true
	delete(q.jobs.fronts, k.h)
	sh.settle(q, k.h, 1)
	if k.behind != 0 {
		delete(q.jobs.behind, k.key)
		sh.settle(q, k.behind, 1)
	}
	sh.mark(q)
	return nil
}

func (c *JobCounts) find(s *Session) (*Queue, error) {
	return s.asFound(s.readableList(c.Queue, false))
}

func (c *JobCounts) run(sh *shard, q *Queue) error {
	sh.catchUp(q)
	st := q.state
	c.Behind = q.countBehind()
	c.Queued, c.Locked, c.Backoff = st.Ready()+st.Blocked(), st.Unacked(), st.Scheduled()-c.Behind
	c.Done, c.DoneBackoff = 0, 0
	if q.jobs != nil {
		c.Done, c.DoneBackoff = q.jobs.book.RememberedIDs(), q.jobs.book.InBackoff(sh.now)
	}
	return nil
}

// countBehind is how many messages wait behind others.
func (q *Queue) countBehind() (n int) {
	if q.jobs == nil {
		return 0
	}
	for key := range q.jobs.behind {
		if _, ok := q.jobBehind(key); ok {
			n++
		}
	}
	return n
}

func (c *JobClear) find(s *Session) (*Queue, error) { return s.asJobs(s.readableList(c.Queue, false)) }

func (c *JobClear) run(sh *shard, q *Queue) error {
	j := q.jobs
	sh.catchUp(q)
	clear(j.fronts)
	c.Cleared = sh.clear(q)
	var rest []queue.Handle
	q.state.Each(0, func(it *queue.Item, status queue.Status) bool {
		if l := j.book.Leased(it.Handle); status == queue.Scheduled || status == queue.Blocked || l != nil && !l.Ended {
			rest = append(rest, it.Handle)
			if it.Due != dueBehind {
				c.Cleared++
			}
		}
		return true
	})
	for _, h := range rest {
		sh.settle(q, h, 1)
	}
	clear(j.behind)
	for _, d := range j.book.DoneFrom(0, j.book.RememberedIDs()) {
		if d.Logged {
			sh.recordDone(q, &job.Done{ID: d.ID})
		}
	}
	j.book.Clear()
	sh.mark(q)
	sh.letGoCleared(q)
	return nil
}
