package shardstate

import (
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Recorder makes changes and collects their facts in the current entry. Each of its methods does
// both, so nothing changes without being recorded.
//
// Some facts are collected and written together. Settles come last in the entry, with one fact for
// adjacent messages. Leases with consecutive numbers share one fact, which is written before the
// next other fact.
//
// Changes of only transient messages, or of a queue that is not durable, are not recorded.
type Recorder struct {
	bodies  Released
	index   uint64 // of the entry
	sub     uint32 // number of the next fact
	data    []byte
	refs    int // references from queues to bodies in this entry
	settled []span
	leases  leases

	gone      func(*queue.Item) // bound once
	persisted bool              // gone was called for a persistent message
	payload   []byte            // of a fact of a stream under construction
}

// Released is called for bodies that are no longer needed once the entry is durable.
type Released interface {
	// Logged: a body in an entry of the log.
	Logged(index uint64)
	// Scratch: a body in the scratch log.
	Scratch(index uint64)
}

// NewRecorder returns a recorder without an entry. Begin must be called first.
func NewRecorder(bodies Released) *Recorder {
	r := &Recorder{bodies: bodies}
	r.gone = func(it *queue.Item) {
		switch {
		case it.Flags&queue.Persistent != 0:
			r.persisted = true
			r.bodies.Logged(it.Index)
		case it.Flags&queue.Scratch != 0:
			r.bodies.Scratch(it.Index)
		}
	}
	return r
}

// Begin begins the entry with this index; buf is storage for its bytes.
func (r *Recorder) Begin(index uint64, buf []byte) {
	r.index, r.sub, r.refs, r.data = index, 0, 0, buf[:0]
}

// Seal completes the entry and returns its bytes and its number of references to bodies. The caller
// calls Begin next.
func (r *Recorder) Seal() (data []byte, refs int) {
	r.flushSettled()
	data = r.begin()
	r.data = nil
	return data, r.refs
}

// Empty reports whether the entry has no facts.
func (r *Recorder) Empty() bool { return len(r.data) == 0 && len(r.settled) == 0 && r.leases.n == 0 }

// Len returns how many bytes the entry has so far, without collected facts.
func (r *Recorder) Len() int { return len(r.data) }

// begin returns the buffer to which the next fact is appended.
func (r *Recorder) begin() []byte {
	if r.leases.n > 0 {
		r.data = appendLeases(r.data, &r.leases)
		r.sub++
		r.leases.n = 0
	}
	return r.data
}

// flushSettled appends the collected settles.
func (r *Recorder) flushSettled() {
	if len(r.settled) == 0 {
		return
	}
	data := r.begin()
	for _, s := range r.settled {
		data = appendSpan(data, factSettle, s.queue, s.handle, uint64(s.n))
	}
	r.sub += uint32(len(r.settled))
	r.data, r.settled = data, r.settled[:0]
}

// Start records that the process has started, so that what the last clean checkpoint says about
// deliveries is outdated.
func (r *Recorder) Start() { r.Note() }

// Note records nothing, but makes the entry count as non-empty.
func (r *Recorder) Note() {
	r.data = AppendFact(r.begin(), factStart, 0)
	r.sub++
}

// Publish adds a message to its queues. It stores the handle in each target, and the size in the
// message. It reports whether the message is recorded.
func (r *Recorder) Publish(m *Message) (logged bool) {
	r.begin()
	n := 0
	m.Size = uint32(len(m.Env.Body()))
	for i := range m.Targets {
		t := &m.Targets[i]
		it := queue.Item{Due: m.Due, Env: m.Env, Size: m.Size, Flags: m.Flags}
		if t.logged {
			n++
			it.Flags |= queue.Persistent
			it.Index, it.Sub = r.index, r.sub
		}
		t.to.put(t, &it)
	}
	if n == 0 {
		return false
	}
	typ := byte(factPublish)
	if m.Copied {
		typ = factCopy
	}
	r.data = appendMessage(r.data, typ, m, n)
	r.refs += n
	r.sub++
	return true
}

// Replace replaces an existing message, and keeps its count of returns and its status.
func (r *Recorder) Replace(q *Queue, h queue.Handle, env message.Envelope, expires, due int64) {
	was, _ := q.State.Get(h)
	logged := was.Flags&queue.Persistent != 0
	it := queue.Item{Due: due, Env: env, Size: uint32(len(env.Body())), Expires: expires}
	if logged {
		m := Message{Due: due, Env: env}
		m.To(q, h, expires, true)
		data := r.begin()
		it.Flags, it.Index, it.Sub = queue.Persistent, r.index, r.sub
		r.data = appendMessage(data, factReplace, &m, 1)
		r.refs++
		r.sub++
	}
	old, _ := q.replace(h, &it)
	r.gone(&old)
}

// Settle settles those of the n contiguous messages from h on that exist. It returns how many did,
// and whether that is recorded. All n handles must have been assigned before, because the fact
// comes last in the entry.
func (r *Recorder) Settle(q *Queue, h queue.Handle, n int) (found int, logged bool) {
	r.persisted = false
	found = q.settle(h, n, r.gone)
	if r.persisted {
		r.noteSettled(q, h, n)
	}
	return found, r.persisted
}

// noteSettled collects the fact of a settle.
func (r *Recorder) noteSettled(q *Queue, h queue.Handle, n int) {
	if k := len(r.settled); k > 0 {
		if s := &r.settled[k-1]; s.queue == q.ID && s.handle+queue.Handle(s.n) == h {
			s.n += n
			return
		}
	}
	r.settled = append(r.settled, span{queue: q.ID, handle: h, n: n})
}

// Purge settles all ready messages, and calls each for every run of contiguous messages.
func (r *Recorder) Purge(q *Queue, each func(h queue.Handle, n int)) {
	q.purge(func(h queue.Handle, n int) {
		if q.Durable {
			r.noteSettled(q, h, n)
		}
		each(h, n)
	}, r.gone)
}

// Return counts a return of n contiguous messages, which are then ready, or scheduled if due (Unix
// ms) is not 0. It returns how many exist.
func (r *Recorder) Return(q *Queue, h queue.Handle, n int, due int64) int {
	found := q.giveBack(h, n, due)
	switch {
	case found == 0 || !q.Durable:
		return found
	case due == 0:
		r.data = appendSpan(r.begin(), factRequeue, q.ID, h, uint64(n))
	default:
		r.data = appendInts(r.begin(), factRetry, q.ID, uint64(h), uint64(n), uint64(due))
	}
	r.sub++
	return found
}

// Reschedule changes the time of a scheduled message, in Unix ms.
func (r *Recorder) Reschedule(q *Queue, h queue.Handle, due int64) {
	logged := isLogged(q, h)
	if q.reschedule(h, due) && logged {
		r.data = appendSpan(r.begin(), factReschedule, q.ID, h, uint64(due))
		r.sub++
	}
}

// Recount sets a message's count of returns.
func (r *Recorder) Recount(q *Queue, h queue.Handle, count uint32) {
	logged := isLogged(q, h)
	q.recount(h, count)
	if logged {
		r.data = appendSpan(r.begin(), factRecount, q.ID, h, uint64(count))
		r.sub++
	}
}

// isLogged reports whether a message is in the log.
func isLogged(q *Queue, h queue.Handle) bool {
	it, status := q.State.Get(h)
	return status != queue.Gone && it.Flags&queue.Persistent != 0
}

// Remember makes a durable queue remember a key in order to refuse other messages with it.
func (r *Recorder) Remember(q *Queue, k *Key) {
	q.remember(k)
	r.data = appendKey(r.begin(), q.ID, k)
	r.sub++
}

// OpenLedger gives a queue without a job ledger an empty one. It records nothing: an empty ledger
// of a queue that is not used for jobs equals none.
func (r *Recorder) OpenLedger(q *Queue) { q.keepLedger() }

// UseForJobs records that a queue is used for jobs.
func (r *Recorder) UseForJobs(q *Queue) {
	if q.UsedForJobs() {
		return
	}
	q.useForJobs()
	if q.Durable {
		r.data = appendInts(r.begin(), factLedger, q.ID)
		r.sub++
	}
}

// Lease leases a message until a time (Unix ms), or changes the time of its lease with that number.
// logged means that the message is in the log.
func (r *Recorder) Lease(q *Queue, h queue.Handle, number uint64, until int64, logged bool) {
	l := leases{queue: q.ID, handle: h, n: 1, number: number, until: until}
	q.lease(&l, logged)
	if logged && !r.leases.extend(&l) {
		r.begin()
		r.leases = l
	}
}

// Remembered makes a queue remember the id of a finished job until d.Until, Unix ms.
func (r *Recorder) Remembered(q *Queue, d *job.Done) {
	d.Logged = q.Durable
	q.done(d)
	if d.Logged {
		r.recordDone(q, d)
	}
}

// ForgetPassed forgets the ids whose time has passed by now, Unix ms.
func (r *Recorder) ForgetPassed(q *Queue, now int64) {
	q.changes()
	q.Jobs.ForgetPassed(now, func(d *job.Done) { r.recordDone(q, &job.Done{ID: d.ID}) })
}

// ForgetAll forgets all ids.
func (r *Recorder) ForgetAll(q *Queue) {
	for _, d := range q.Jobs.DoneFrom(0, q.Jobs.RememberedIDs()) {
		if d.Logged {
			r.recordDone(q, &job.Done{ID: d.ID})
		}
	}
	q.changes()
	q.Jobs.Clear()
}

func (r *Recorder) recordDone(q *Queue, d *job.Done) {
	r.data = appendDone(r.begin(), q.ID, d)
	r.sub++
}
