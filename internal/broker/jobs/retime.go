package jobs

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
)

// Retime changes when a queued job is ready. Errors: failure.ErrLocked if a worker has it.
type Retime struct {
	broker.OnQueue
	ID      []byte
	Backoff int64 // ms from now until it is ready; 0: at once

	Retimed bool // result: the job existed
}

// Find implements broker.Command.
func (r *Retime) Find(f broker.Finder) (*shard.Queue, error) { return writable(f, r.Queue, false) }

// Run implements broker.Command.
func (r *Retime) Run(at shard.Context) error {
	q := jobsAt(at)
	r.Retimed = false
	q.CatchUp()
	k := q.know(r.ID)
	switch k.state(q.Now()) {
	case job.Queued, job.QueuedWithBackoff:
		r.Retimed = true
		e := Enqueue{ID: r.ID, Backoff: min(r.Backoff, shard.MaxSpan)}
		return e.retime(q, k.h)
	case job.Locked, job.LockedWithRequeue:
		return q.fail(failure.ErrLocked, r.ID)
	}
	return nil
}
