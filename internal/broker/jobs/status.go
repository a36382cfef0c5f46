package jobs

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Find implements broker.Command.
func (st *Status) Find(f broker.Finder) (*shard.Queue, error) { return readable(f, st.Queue, false) }

// Run implements broker.Command.
func (st *Status) Run(at shard.Context) error {
	q := jobsAt(at)
	q.CatchUp()
	k := q.know(st.ID)
	st.Info = q.describe(&k, nil)
	return nil
}

// describe describes an id. env is its message if the caller has it, else describe reads it if
// needed.
func (q jobQueue) describe(k *known, env message.Envelope) Info {
	info := Info{ID: k.id, State: k.state(q.Now())}
	if k.done != nil {
		info.Attempts, info.First, info.Backoff = k.done.Attempts, k.done.First, max(k.done.Until-q.Now(), 0)
	}
	if !k.found {
		return info
	}
	it, status := q.Deliveries().Get(k.h)
	info.Size = int(it.Size)
	if env == nil {
		env, _ = q.Load(it) // a message that cannot be read has no times
	}
	info.Priority = jobPriority(env)
	if info.State == job.DoneWithRequeue {
		return info
	}
	info.Attempts, info.Backoff = it.Count, 0
	if env != nil {
		info.First, _ = jobTimes(env)
		info.Error = jobError(env)
	}
	switch status {
	case queue.Scheduled:
		info.Backoff = max(it.Due-q.Now(), 0)
	case queue.Unacked:
		info.Attempts++
		if l := q.ledger.Leased(k.h); l != nil {
			info.Lock = max(l.Until-q.Now(), 0)
		}
	}
	return info
}

// Find implements broker.Command.
func (r *Remember) Find(f broker.Finder) (*shard.Queue, error) {
	if len(r.ID) > MaxID {
		return nil, &failure.Error{Err: failure.ErrTooLarge, Kind: "job", Name: string(r.ID)}
	}
	return writable(f, r.Queue, true)
}

// Run implements broker.Command.
func (r *Remember) Run(at shard.Context) error {
	q := jobsAt(at)
	q.CatchUp()
	k := q.know(r.ID)
	switch k.state(q.Now()) {
	case job.Queued, job.QueuedWithBackoff, job.DoneWithRequeue:
		return q.fail(failure.ErrAlreadyQueued, r.ID)
	case job.Locked, job.LockedWithRequeue:
		return q.fail(failure.ErrLocked, r.ID)
	case job.DoneWithBackoff:
		if k.done.Until >= r.Until {
			return nil
		}
	}
	q.remember(&job.Done{ID: string(r.ID), Until: max(r.Until, 1), Attempts: r.Attempts, First: max(r.First, 0)})
	return nil
}

// Find implements broker.Command.
func (c *Cancel) Find(f broker.Finder) (*shard.Queue, error) { return readable(f, c.Queue, false) }

// Run implements broker.Command.
func (c *Cancel) Run(at shard.Context) error {
	q := jobsAt(at)
	c.Cancelled = false
	q.CatchUp()
	k := q.know(c.ID)
	switch k.state(q.Now()) {
	case job.Queued, job.QueuedWithBackoff, job.DoneWithRequeue:
	case job.Locked, job.LockedWithRequeue:
		if !c.Force || q.ledger.Leased(k.h) == nil {
			return q.fail(failure.ErrLocked, c.ID)
		}
	default:
		return nil
	}
	c.Cancelled = true
	delete(q.fronts, k.h)
	q.Settle(k.h, 1)
	if k.behind != 0 {
		delete(q.behind, k.key)
		q.Settle(k.behind, 1)
	}
	q.Changed()
	return nil
}

// Find implements broker.Command.
func (c *Counts) Find(f broker.Finder) (*shard.Queue, error) {
	q, err := f.Queue(broker.Reading, c.Queue, false)
	return readyIfUsed(f, q, err)
}

// Run implements broker.Command.
func (c *Counts) Run(at shard.Context) error {
	at.CatchUp()
	if d := directoryOf(at.Queue()); d != nil {
		c.Behind = d.Hidden(at)
	} else {
		c.Behind = 0
	}
	st := at.Deliveries()
	c.Queued, c.Locked, c.Backoff = st.Ready()+st.Blocked(), st.Unacked(), st.Scheduled()-c.Behind
	c.Done, c.DoneBackoff = 0, 0
	if ledger := at.Content().Jobs; ledger != nil {
		c.Done, c.DoneBackoff = ledger.RememberedIDs(), ledger.InBackoff(at.Now())
	}
	return nil
}

// Find implements broker.Command.
func (c *Clear) Find(f broker.Finder) (*shard.Queue, error) { return readable(f, c.Queue, false) }

// Run implements broker.Command.
func (c *Clear) Run(at shard.Context) error {
	q := jobsAt(at)
	q.CatchUp()
	clear(q.fronts)
	c.Cleared = q.Context.Clear()
	var rest []queue.Handle
	q.Deliveries().Each(0, func(it *queue.Item, status queue.Status) bool {
		if l := q.ledger.Leased(it.Handle); status != queue.Unacked || l != nil && !l.Ended { // ready: it waited for one that is gone now
			rest = append(rest, it.Handle)
			if it.Due != shard.HeldBack {
				c.Cleared++
			}
		}
		return true
	})
	for _, h := range rest {
		q.Settle(h, 1)
	}
	clear(q.behind)
	q.Facts().ForgetAll(q.Content())
	q.Changed()
	q.LetGo()
	return nil
}
