package shardstate

import (
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Recorder makes changes and gathers their facts in the entry in the making. Each of its methods
// does both: nothing changes of which the log does not tell.
//
// Some facts are gathered and written together: settles stand at the end of the entry, neighbours
// in one fact; leases with consecutive numbers share one, which stands before the next fact.
//
// What concerns transient messages alone, or a queue that is not durable, leaves no fact.
type Recorder struct {
	bodies  Released
	index   uint64 // of the entry
	sub     uint32 // number of the next fact
	data    []byte
	refs    int // references from queues to bodies in this entry
	settled []span
	leases  leases

	gone      func(*queue.Item) // bound once
	persisted bool              // gone got a persistent message
	payload   []byte            // of a fact of a stream, being built
}

// Released is told of bodies that are no longer needed once the entry is durable.
type Released interface {
	// Logged: a body in an entry of the log.
	Logged(index uint64)
	// Scratch: a body in the scratch log.
	Scratch(index uint64)
}

// NewRecorder returns a recorder without an entry; Begin comes first.
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

// Begin begins the entry with an index; buf is what its bytes may use.
func (r *Recorder) Begin(index uint64, buf []byte) {
	r.index, r.sub, r.refs, r.data = index, 0, 0, buf[:0]
}

// Seal completes the entry: its bytes, and the references to bodies in it. Begin comes next.
func (r *Recorder) Seal() (data []byte, refs int) {
	r.flushSettled()
	data = r.begin()
	r.data = nil
	return data, r.refs
}

// Empty reports whether the entry holds no fact.
func (r *Recorder) Empty() bool { return len(r.data) == 0 && len(r.settled) == 0 && r.leases.n == 0 }

// Len is how many bytes the entry has by now, without what is still gathered.
func (r *Recorder) Len() int { return len(r.data) }

// begin is where the next fact goes.
func (r *Recorder) begin() []byte {
	if r.leases.n > 0 {
		r.data = appendLeases(r.data, &r.leases)
		r.sub++
		r.leases.n = 0
	}
	return r.data
}

// flushSettled appends the settles that were gathered.
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

// Start records that the process started: what the last clean checkpoint says of deliveries is old.
func (r *Recorder) Start() { r.Note() }

// Note records nothing, so that the entry is not empty.
func (r *Recorder) Note() {
	r.data = AppendFact(r.begin(), factStart, 0)
	r.sub++
}

// Publish puts a message into its queues and tells each target its handle, and the message its
// size. It reports whether the message is in the log.
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

// Replace puts another message in the place of one that is there: its count of returns, and what is
// happening to it, stay.
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

// Settle ends the n contiguous messages from h on, as far as they are there. It returns how many
// there were, and whether the log tells of it. All n handles were given out before: the fact stands
// at the end of the entry.
func (r *Recorder) Settle(q *Queue, h queue.Handle, n int) (found int, logged bool) {
	r.persisted = false
	found = q.settle(h, n, r.gone)
	if r.persisted {
		r.noteSettled(q, h, n)
	}
	return found, r.persisted
}

// noteSettled gathers the fact of a settle.
func (r *Recorder) noteSettled(q *Queue, h queue.Handle, n int) {
	if k := len(r.settled); k > 0 {
		if s := &r.settled[k-1]; s.queue == q.ID && s.handle+queue.Handle(s.n) == h {
			s.n += n
			return
		}
	}
	r.settled = append(r.settled, span{queue: q.ID, handle: h, n: n})
}

// Purge settles all that is ready, and tells each of every run of contiguous messages.
func (r *Recorder) Purge(q *Queue, each func(h queue.Handle, n int)) {
	q.purge(func(h queue.Handle, n int) {
		if q.Durable {
			r.noteSettled(q, h, n)
		}
		each(h, n)
	}, r.gone)
}

// Return counts a return of n contiguous messages, which are ready, or scheduled when due (Unix ms)
// is not 0. It returns how many are there.
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

// Reschedule gives a scheduled message another time, Unix ms.
func (r *Recorder) Reschedule(q *Queue, h queue.Handle, due int64) {
	logged := isLogged(q, h)
	if q.reschedule(h, due) && logged {
		r.data = appendSpan(r.begin(), factReschedule, q.ID, h, uint64(due))
		r.sub++
	}
}

// Recount sets how often a message came back.
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

// Remember has a durable queue take no other message with a key.
func (r *Recorder) Remember(q *Queue, k *Key) {
	q.remember(k)
	r.data = appendKey(r.begin(), q.ID, k)
	r.sub++
}

// OpenLedger begins the job ledger of a queue that has none. Nothing is recorded: as long as
// nothing stands in it, and the queue was not used for jobs, it is as good as none.
func (r *Recorder) OpenLedger(q *Queue) { q.keepLedger() }

// UseForJobs notes that a queue is used for jobs.
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

// Lease leases a message until a time (Unix ms), or gives its lease with that number the time.
// logged: the message is in the log.
func (r *Recorder) Lease(q *Queue, h queue.Handle, number uint64, until int64, logged bool) {
	l := leases{queue: q.ID, handle: h, n: 1, number: number, until: until}
	q.lease(&l, logged)
	if logged && !r.leases.extend(&l) {
		r.begin()
		r.leases = l
	}
}

// Remembered has a queue remember the id of a job that is over until d.Until, Unix ms.
func (r *Recorder) Remembered(q *Queue, d *job.Done) {
	d.Logged = q.Durable
	q.done(d)
	if d.Logged {
		r.recordDone(q, d)
	}
}

// ForgetPassed forgets the ids whose time is over by now, Unix ms.
func (r *Recorder) ForgetPassed(q *Queue, now int64) {
	q.Jobs.ForgetPassed(now, func(d *job.Done) { r.recordDone(q, &job.Done{ID: d.ID}) })
}

// ForgetAll forgets all ids.
func (r *Recorder) ForgetAll(q *Queue) {
	for _, d := range q.Jobs.DoneFrom(0, q.Jobs.RememberedIDs()) {
		if d.Logged {
			r.recordDone(q, &job.Done{ID: d.ID})
		}
	}
	q.Jobs.Clear()
}

func (r *Recorder) recordDone(q *Queue, d *job.Done) {
	r.data = appendDone(r.begin(), q.ID, d)
	r.sub++
}
