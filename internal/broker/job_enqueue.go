package broker

import (
	"fiveways/internal/core/job"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

func (e *Enqueue) find(s *Session) (*Queue, error) {
	if len(e.ID) > MaxJobID {
		return nil, &Error{Err: ErrTooLarge, Kind: "job", Name: string(e.ID)}
	}
	q, err := s.asJobs(s.writable(e.Queue, true))
	if err != nil {
		return nil, err
	}
	if e.fresh = len(e.ID) == 0; e.fresh {
		e.ID = randomID()
	}
	e.Backoff, e.Lock, e.TTL = min(e.Backoff, maxDelay), min(e.Lock, maxDelay), min(e.TTL, maxDelay)
	if e.env, e.first = jobEnvelope(e); len(e.env.Properties()) > maxJobProperties {
		return nil, &Error{Err: ErrTooLarge, Kind: "job", Name: string(e.ID)}
	}
	return q, nil
}

func (e *Enqueue) run(sh *shard, q *Queue) error {
	defer func() { e.env = nil }()
	e.Updated = false
	sh.catchUp(q)
	if e.fresh {
		return e.addNew(sh, q)
	}
	k := q.knowJob(e.ID)
	state, inBackoff := k.state(sh.now), k.done != nil && k.done.Until > sh.now
	switch job.Decide(state, job.Wish{Update: e.Update, Requeue: e.Requeue, ResetBackoff: e.ResetBackoff}, inBackoff) {
	case job.Add:
		return e.addNew(sh, q)
	case job.AddAfter:
		at := max(k.done.Until, sh.now)
		return e.add(sh, q, at, at)
	case job.AddBehind:
		err := e.add(sh, q, dueBehind, sh.now)
		if err == nil {
			q.jobs.fronts[k.h] = k.key
		}
		return err
	case job.Replace:
		return e.replace(sh, q, k.h, e.ResetBackoff && state != job.DoneWithRequeue)
	case job.ReplaceBehind:
		return e.replace(sh, q, k.behind, false)
	case job.Retime:
		return e.retime(sh, q, k.h)
	case job.IsLocked:
		return jobError(ErrLocked, q, e.ID)
	case job.InBackoff:
		return jobError(ErrBackoff, q, e.ID)
	}
	return jobError(ErrAlreadyQueued, q, e.ID)
}

func jobError(err error, q *Queue, id []byte) error {
	return &Error{Err: err, Kind: "job", Name: string(id), VHost: q.vhost.Name}
}

// due is when the job may be taken by its own wish, 0 for at once.
func (e *Enqueue) due(now int64) int64 {
	if e.Backoff <= 0 {
		return 0
	}
	return now + e.Backoff
}

// op is the job as a message for a time (unix ms, 0 now).
func (e *Enqueue) op(q *Queue, due int64) op {
	o := op{kind: opPublish, persistent: true, priority: e.Priority, queue: q, env: e.env, ttl: -1, due: due}
	if e.TTL > 0 {
		o.ttl = e.TTL
	}
	return o
}

// add puts the job into the queue.
func (e *Enqueue) add(sh *shard, q *Queue, due, first int64) error {
	setFirst(e.env, e.first, first)
	o := e.op(q, due)
	if !sh.publish(&o) {
		return &Error{Err: ErrRejected, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	q.counts.Direct++
	return nil
}

// addNew puts the job into the queue when nothing is known of its id.
func (e *Enqueue) addNew(sh *shard, q *Queue) error {
	first := sh.now
	if e.First > 0 {
		first = e.First
	}
	level := uint8(0)
	if q.Policy().MaxPriority > 0 {
		level = min(e.Priority, q.Policy().MaxPriority)
	}
	h := queue.MakeHandle(level, q.state.NextSeq(level))
	err := e.add(sh, q, e.due(sh.now), first)
	if err == nil && (e.Attempts > 0 || e.LeasedUntil > sh.now) {
		e.carryOn(sh, q, h)
	}
	return err
}

// carryOn gives a job that was just added the past that it has from elsewhere.
func (e *Enqueue) carryOn(sh *shard, q *Queue, h queue.Handle) {
	it, _ := q.state.Get(h)
	if it == nil {
		return // the queue is so short that it is gone already
	}
	logged, count := isLogged(it), e.Attempts
	leased := e.LeasedUntil > sh.now && q.state.LendAside(h) != nil
	if leased && count > 0 {
		count-- // its end counts
	}
	if count > 0 {
		sh.recount(q, h, count)
	}
	if !leased {
		return
	}
	r := leaseRun{q.ID, h, 1, q.jobs.book.Next(), e.LeasedUntil}
	q.jobs.book.Lease(h, 1, r.number, r.until, logged)
	q.jobs.book.Leased(h).Key = q.jobs.keys.Of(e.ID)
	sh.holdGroup(q, h)
	if logged {
		sh.recordLeases(&r)
	}
	sh.mark(q)
}

// recount sets how often a message came back.
func (sh *shard) recount(q *Queue, h queue.Handle, count uint32) {
	it, _ := q.state.Get(h)
	logged := isLogged(it)
	q.state.Recount(h, count)
	if logged {
		sh.entry.data = appendRange(sh.entry.data, factRecount, q.ID, h, int(count))
		sh.sub++
	}
}

// replace has the job take the place of a message, and its time when retime says so.
func (e *Enqueue) replace(sh *shard, q *Queue, h queue.Handle, retime bool) error {
	it, status := q.state.Get(h)
	was, err := sh.loadAnywhere(it)
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
		due = e.due(sh.now)
	}
	e.Updated = true
	if q.Durable && !isLogged(it) {
		return e.succeed(sh, q, h, due, first)
	}
	o := e.op(q, due)
	sh.replace(q, h, e.env, sh.deadline(q, &o), due)
	return nil
}

// succeed has the job come in place of a message that would not survive a restart, which it must. It stands where it comes.
func (e *Enqueue) succeed(sh *shard, q *Queue, h queue.Handle, due, first int64) error {
	key, front := q.jobs.fronts[h]
	delete(q.jobs.fronts, h)
	sh.settle(q, h, 1)
	if err := e.add(sh, q, due, first); err != nil {
		return err
	}
	if next, ok := q.firstJob(q.jobs.keys.Of(e.ID)); ok && front {
		q.jobs.fronts[next] = key
	}
	return nil
}

// retime has a message that nobody has be ready at another time.
func (e *Enqueue) retime(sh *shard, q *Queue, h queue.Handle) error {
	e.Updated = true
	it, status := q.state.Get(h)
	due := e.due(sh.now)
	if status == queue.Scheduled {
		sh.reschedule(q, h, max(due, 1))
		q.state.Due(sh.now)
		sh.mark(q)
		return nil
	}
	if due == 0 {
		return nil
	}
	expires := it.Expires
	if expires != 0 {
		expires += e.Backoff
	}
	env, err := sh.loadAnywhere(it)
	if err != nil {
		return err
	}
	sh.replace(q, h, env, expires, due)
	return nil
}

// JobHeaders are the headers of a message.
func JobHeaders(env message.Envelope) (headers message.Table, err error) {
	raw, ok := message.FindProperty(env.Properties(), message.HasHeaders)
	if !ok {
		return nil, nil
	}
	return message.DecodeTable(raw)
}
