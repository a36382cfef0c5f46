package broker

import (
	"encoding/binary"

	"fiveways/internal/core/job"
	"fiveways/internal/core/queue"
)

// leaseRun is n contiguous messages that are leased until one time by leases with neighbouring numbers.
type leaseRun struct {
	queue  uint64
	handle queue.Handle
	n      int
	number uint64 // of the first
	until  int64  // unix ms
}

func appendLease(dst []byte, r *leaseRun) []byte {
	n := uvarintLen(r.queue) + uvarintLen(uint64(r.handle)) + uvarintLen(uint64(r.n)) + uvarintLen(r.number) + uvarintLen(uint64(r.until))
	dst = appendFact(dst, factLease, n)
	dst = binary.AppendUvarint(dst, r.queue)
	dst = binary.AppendUvarint(dst, uint64(r.handle))
	dst = binary.AppendUvarint(dst, uint64(r.n))
	dst = binary.AppendUvarint(dst, r.number)
	return binary.AppendUvarint(dst, uint64(r.until))
}

func decodeLease(b []byte) (r leaseRun, err error) {
	v := varints{b: b}
	r = leaseRun{queue: v.next(), handle: queue.Handle(v.next()), n: int(v.next()), number: v.next(), until: int64(v.next())}
	if v.bad || len(v.b) != 0 || r.n < 0 || r.until < 0 {
		return r, errMalformedFact
	}
	return r, nil
}

// appendDone is the fact that an id is remembered; with Until 0 it is forgotten.
func appendDone(dst []byte, queueID uint64, d *job.Done) []byte {
	n := uvarintLen(queueID) + uvarintLen(uint64(d.Until)) + uvarintLen(uint64(d.Attempts)) + uvarintLen(uint64(d.First)) + len(d.ID)
	dst = appendFact(dst, factDone, n)
	dst = binary.AppendUvarint(dst, queueID)
	dst = binary.AppendUvarint(dst, uint64(d.Until))
	dst = binary.AppendUvarint(dst, uint64(d.Attempts))
	dst = binary.AppendUvarint(dst, uint64(d.First))
	return append(dst, d.ID...)
}

func decodeDone(b []byte) (queueID uint64, d job.Done, err error) {
	v := varints{b: b}
	queueID = v.next()
	d = job.Done{Until: int64(v.next()), Attempts: uint32(v.next()), First: int64(v.next()), Logged: true}
	if v.bad || d.Until < 0 || d.First < 0 {
		return queueID, d, errMalformedFact
	}
	d.ID = string(v.b)
	return queueID, d, nil
}

func appendBook(dst []byte, queueID uint64) []byte {
	dst = appendFact(dst, factBook, uvarintLen(queueID))
	return binary.AppendUvarint(dst, queueID)
}

// applyJob replays a fact about the jobs of a queue.
func (m *machine) applyJob(fact []byte) error {
	switch fact[0] {
	case factLease:
		r, err := decodeLease(fact[1:])
		if err != nil {
			return err
		}
		if st := m.queues[r.queue]; st != nil {
			for i := range r.n {
				if h := r.handle + queue.Handle(i); st.Status(h) != queue.Gone {
					m.book(r.queue).Lease(h, 1, r.number+uint64(i), r.until, true)
				}
			}
		}
	case factDone:
		id, d, err := decodeDone(fact[1:])
		if err != nil {
			return err
		}
		if m.queues[id] != nil && d.Until == 0 {
			m.book(id).Forget(d.ID)
		} else if m.queues[id] != nil {
			m.book(id).Remember(&d)
		}
	case factBook:
		v := varints{b: fact[1:]}
		id := v.next()
		if v.bad || len(v.b) != 0 {
			return errMalformedFact
		}
		if m.queues[id] != nil {
			m.book(id)
		}
	}
	return nil
}

// applyReplace replays that a message has another content.
func (m *machine) applyReplace(index uint64, sub uint32, p *published, retain func(uint64, int)) {
	for _, t := range p.targets {
		st := m.queues[t.queue]
		if st == nil {
			continue
		}
		it := queue.Item{Index: index, Sub: sub, Size: uint32(len(p.env.Body())), Expires: t.expires, Due: p.due, Flags: queue.Persistent}
		if old, ok := st.Replace(t.handle, &it); ok {
			retain(index, 1)
			retain(old.Index, -1)
		}
	}
}

// book is the book of a queue, made when it has none.
func (m *machine) book(queueID uint64) *job.Book {
	b := m.books[queueID]
	if b == nil {
		b = job.NewBook()
		m.books[queueID] = b
	}
	return b
}

// endLeases notes that n contiguous messages came back or have gone.
func (m *machine) endLeases(queueID uint64, h queue.Handle, n int) {
	if b := m.books[queueID]; b != nil {
		b.End(h, n)
	}
}

// leased is how many messages of a queue are leased, as far as the log knows.
func (m *machine) leased(queueID uint64) int {
	if b := m.books[queueID]; b != nil {
		return b.LoggedLeases()
	}
	return 0
}

// recoverJobs has who leased messages before the start have them still.
func (sh *shard) recoverJobs() {
	for id, book := range sh.m.books {
		q := sh.queues[id]
		q.jobs = newJobs(book)
		q.jobs.skip()
		var gone []queue.Handle
		book.EachLease(func(l *job.Lease) {
			if !q.state.Hold(l.Handle) {
				gone = append(gone, l.Handle)
				return
			}
			sh.holdGroup(q, l.Handle)
		})
		for _, h := range gone {
			book.End(h, 1)
		}
		sh.mark(q)
	}
}

// holdGroup has who leased a message hold its group.
func (sh *shard) holdGroup(q *Queue, h queue.Handle) {
	if q.picky == nil {
		return
	}
	it, _ := q.state.Get(h)
	env, err := sh.loadAnywhere(it)
	if err != nil {
		return // its delivery will tell
	}
	g, _ := q.picky.sort(env)
	q.picky.hold(g, nil, h)
	q.picky.tidy(g)
}
