package broker

import "fiveways/internal/core/job"

// Retime has a job that is queued be ready at another time. Errors: ErrLocked, when somebody has it.
type Retime struct {
	OnQueue
	ID      []byte
	Backoff int64 // it is not taken from now on; 0: it is ready at once

	Retimed bool // the answer: there was one
}

func (r *Retime) find(s *Session) (*Queue, error) { return s.asJobs(s.writable(r.Queue, false)) }

func (r *Retime) run(sh *shard, q *Queue) error {
	r.Retimed = false
	sh.catchUp(q)
	k := q.knowJob(r.ID)
	switch k.state(sh.now) {
	case job.Queued, job.QueuedWithBackoff:
		r.Retimed = true
		e := Enqueue{ID: r.ID, Backoff: min(r.Backoff, maxDelay)}
		return e.retime(sh, q, k.h)
	case job.Locked, job.LockedWithRequeue:
		return jobError(ErrLocked, q, r.ID)
	}
	return nil
}
