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
func (e *Enqueue) Find(f broker.Finder) (*shard.Queue, error) {
	if len(e.ID) > MaxID {
		return nil, &failure.Error{Err: failure.ErrTooLarge, Kind: "job", Name: string(e.ID)}
	}
	q, err := writable(f, e.Queue, true)
	if err != nil {
		return nil, err
	}
	if e.fresh = len(e.ID) == 0; e.fresh {
		e.ID = randomID()
	}
	e.Backoff, e.Lock, e.TTL = min(e.Backoff, shard.MaxSpan), min(e.Lock, shard.MaxSpan), min(e.TTL, shard.MaxSpan)
	if e.env, e.first = jobEnvelope(e); len(e.env.Properties()) > maxProperties {
		return nil, &failure.Error{Err: failure.ErrTooLarge, Kind: "job", Name: string(e.ID)}
	}
	return q, nil
}

// EachBody calls fn with the size of the body, for rate limits.
func (e *Enqueue) EachBody(fn func(bytes int64)) { fn(int64(len(e.Body))) }

// Run implements broker.Command.
func (e *Enqueue) Run(at shard.Context) error {
	defer func() { e.env = nil }()
	q := jobsAt(at)
	e.Updated = false
	q.CatchUp()
	q.Facts().UseForJobs(q.Content())
	if e.fresh {
		return e.addNew(q)
	}
	k := q.know(e.ID)
	state, inBackoff := k.state(q.Now()), k.done != nil && k.done.Until > q.Now()
	switch job.Decide(state, job.Wish{Update: e.Update, Requeue: e.Requeue, ResetBackoff: e.ResetBackoff}, inBackoff) {
	case job.Add:
		return e.addNew(q)
	case job.AddAfter:
		at := max(k.done.Until, q.Now())
		return e.add(q, at, at)
	case job.AddBehind:
		err := e.add(q, shard.HeldBack, q.Now())
		if err == nil {
			q.fronts[k.h] = k.key
		}
		return err
	case job.Replace:
		return e.replace(q, k.h, e.ResetBackoff && state != job.DoneWithRequeue)
	case job.ReplaceBehind:
		return e.replace(q, k.behind, false)
	case job.Retime:
		return e.retime(q, k.h)
	case job.IsLocked:
		return q.fail(failure.ErrLocked, e.ID)
	case job.InBackoff:
		return q.fail(failure.ErrBackoff, e.ID)
	}
	return q.fail(failure.ErrAlreadyQueued, e.ID)
}

// fail returns an engine error about an id.
func (q jobQueue) fail(err error, id []byte) error {
	return &failure.Error{Err: err, Kind: "job", Name: string(id), VHost: q.Queue().VHost()}
}

// due returns the earliest time at which the job may be taken, or 0 for at once.
func (e *Enqueue) due(now int64) int64 {
	if e.Backoff <= 0 {
		return 0
	}
	return now + e.Backoff
}

// message returns the job as a message that is due at a time (unix ms, 0 now).
func (e *Enqueue) message(due int64) *shard.Publish {
	p := &shard.Publish{Env: e.env, Persistent: true, Priority: e.Priority, TTL: -1, NotBefore: due}
	if e.TTL > 0 {
		p.TTL = e.TTL
	}
	return p
}

// add adds the job to the queue.
func (e *Enqueue) add(q jobQueue, due, first int64) error {
	setFirst(e.env, e.first, first)
	return q.Publish(e.By(), e.message(due))
}

// addNew adds a job whose id is unknown to the queue.
func (e *Enqueue) addNew(q jobQueue) error {
	first := q.Now()
	if e.First > 0 {
		first = e.First
	}
	level := uint8(0)
	if most := q.Queue().Policy().MaxPriority; most > 0 {
		level = min(e.Priority, most)
	}
	h := queue.MakeHandle(level, q.Deliveries().NextSeq(level))
	err := e.add(q, e.due(q.Now()), first)
	if err == nil && (e.Attempts > 0 || e.LeasedUntil > q.Now()) {
		e.carryOn(q, h)
	}
	return err
}

// carryOn restores the history of a job from another system that was just added.
func (e *Enqueue) carryOn(q jobQueue, h queue.Handle) {
	it, _ := q.Deliveries().Get(h)
	if it == nil {
		return // the queue's length limit has dropped it already
	}
	logged, count := isLogged(it), e.Attempts
	leased := e.LeasedUntil > q.Now() && q.Deliveries().LendAside(h) != nil
	if leased && count > 0 {
		count-- // the end of its lease counts as a return
	}
	if count > 0 {
		q.Facts().Recount(q.Content(), h, count)
	}
	if !leased {
		return
	}
	q.Facts().Lease(q.Content(), h, q.ledger.Next(), e.LeasedUntil, logged)
	q.ledger.Leased(h).Key = q.keys.Of(e.ID)
	q.HoldGroup(h)
	q.Changed()
}

// isLogged reports whether changes of a message are recorded.
func isLogged(it *queue.Item) bool { return it.Flags&queue.Persistent != 0 }

// replace replaces a message with the job, and its due time if retime is set.
func (e *Enqueue) replace(q jobQueue, h queue.Handle, retime bool) error {
	it, status := q.Deliveries().Get(h)
	was, err := q.Load(it)
	if err != nil {
		return err
	}
	first, _ := jobTimes(was)
	setFirst(e.env, e.first, first)
	var due int64
	if status == queue.Scheduled {
		due = it.Due
	}
	if retime {
		due = e.due(q.Now())
	}
	e.Updated = true
	if q.Queue().Durable && !isLogged(it) {
		return e.succeed(q, h, due, first)
	}
	q.Replace(h, e.env, q.Expiry(e.message(due)), due)
	return nil
}

// succeed replaces a message that would not survive a restart with the job, which must. The job
// goes to the end of the queue.
func (e *Enqueue) succeed(q jobQueue, h queue.Handle, due, first int64) error {
	key, front := q.fronts[h]
	delete(q.fronts, h)
	q.Settle(h, 1)
	if err := e.add(q, due, first); err != nil {
		return err
	}
	if next, ok := q.first(q.keys.Of(e.ID)); ok && front {
		q.fronts[next] = key
	}
	return nil
}

// retime changes the due time of a message that no worker has.
func (e *Enqueue) retime(q jobQueue, h queue.Handle) error {
	e.Updated = true
	it, status := q.Deliveries().Get(h)
	due := e.due(q.Now())
	if status == queue.Scheduled {
		q.Facts().Reschedule(q.Content(), h, max(due, q.Now())) // its time to live starts then
		q.Deliveries().Due(q.Now())
		q.Changed()
		return nil
	}
	if due == 0 {
		return nil
	}
	expires := it.Expires
	if expires != 0 {
		expires += e.Backoff
	}
	env, err := q.Load(it)
	if err != nil {
		return err
	}
	q.Replace(h, env, expires, due)
	return nil
}

// HeadersOf returns the headers of a message. Errors: those of properties that cannot be read.
func HeadersOf(env message.Envelope) (headers message.Table, err error) {
	raw, ok := message.FindProperty(env.Properties(), message.HasHeaders)
	if !ok {
		return nil, nil
	}
	return message.DecodeTable(raw)
}
