package semaphores

import (
	"fiveways.dev/fiveways/internal/core/catalog"
)

// Limits of one batch of the log. The rest is done in the next round.
const (
	roundTransitions = 1000
	roundBytes       = 256 << 10
)

// round is one pass of the combiner: the changes, the transitions that the rule derives from them,
// and the events of both. They are one batch of the log.
type round struct {
	m           *Manager
	n           uint64
	now         int64    // unix µs
	q           *request // the current request
	facts       facts
	rollbackLog []rollbackEntry

	touched     []*sem
	undecided   []*sem  // changed by the current request; empty between requests
	events      []Event // in order
	transitions int
	lines       []logLine
}

// flight is a batch that is being written to the log.
type flight struct {
	n          uint64
	events     []Event
	done       chan struct{} // closed when the batch is durable or rolled back
	rolledBack bool
}

// round executes as many requests as fit, and returns how many. When it returns, they are durable
// or their err is set.
func (m *Manager) round(batch []*request) (done int) {
	m.mu.Lock()
	if first := batch[0]; first.still != nil {
		first.still()
		m.mu.Unlock()
		return 1
	}
	r := &m.r
	r.begin(m)
	if m.failed == nil {
		done = r.doAll(batch)
	} else {
		done = len(batch)
		for _, q := range batch {
			q.err = m.failed
		}
	}
	f := r.depart()
	m.mu.Unlock()

	err, kept := r.record(batch[:done], f)

	m.mu.Lock()
	r.arrive(f, err, kept)
	m.mu.Unlock()
	if f != nil {
		close(f.done)
	}
	r.end()
	return done
}

// spareMost is the capacity, in steps, up to which buffers are kept for the next round.
const spareMost = 4 * roundTransitions

// begin starts a round. The caller holds m.mu.
func (r *round) begin(m *Manager) {
	m.n++
	r.m, r.n, r.now = m, m.n, m.o.Now().UnixMicro()
}

// end resets r and keeps its buffers.
func (r *round) end() {
	clear(r.rollbackLog)
	clear(r.touched)
	clear(r.events)
	spare := round{facts: facts{b: r.facts.b[:0]}, rollbackLog: r.rollbackLog[:0], touched: r.touched[:0],
		undecided: r.undecided[:0], events: r.events[:0]}
	if cap(r.rollbackLog) > spareMost || cap(r.events) > spareMost || cap(r.facts.b) > 2*roundBytes {
		spare = round{}
	}
	*r = spare
}

// doAll executes as many requests as fit, and everything that is due. A request that may be rolled
// back because of the rest of its group gets a round of its own.
func (r *round) doAll(batch []*request) (done int) {
	if batch[0].alone() {
		r.do(batch[0])
		if len(r.m.table.due) > 0 {
			r.m.clock.ring()
		}
		return 1
	}
	r.expire()
	for _, q := range batch {
		if done > 0 && (r.full() || q.large()) {
			break
		}
		r.do(q)
		done++
	}
	r.goOn()
	return done
}

// full reports whether the batch is full.
func (r *round) full() bool { return r.transitions >= r.m.most || len(r.facts.b) >= roundBytes }

// do makes all changes of a request, or none of them.
func (r *round) do(q *request) {
	r.q = q
	if q.work != nil {
		q.work(r)
		return
	}
	mark := r.mark()
	for i, c := range q.changes {
		o := c.of()
		if _, looks := c.(looking); looks {
			r.decide(nil) // its result must not contradict the results of the changes before it
		}
		if o.Err == nil {
			o.Err = c.do(r)
		}
		if o.Err != nil && q.group.Must {
			r.rollBack(mark)
			q.err = o.Err
			return
		}
		if !q.together {
			r.decide(q.changes[i : i+1])
		}
	}
	if q.together {
		r.decide(q.changes)
	}
}

// depart marks the changes as in flight. It returns nil if there are none. The caller holds m.mu.
func (r *round) depart() *flight {
	r.follow()
	if len(r.facts.b) == 0 {
		return nil
	}
	f := &flight{n: r.n, events: r.events, done: make(chan struct{})}
	r.m.flight = f
	return f
}

// record makes the batch durable, together with the rest of the request's group. kept reports
// whether the batch is in the log.
func (r *round) record(batch []*request, f *flight) (err error, kept bool) {
	if len(batch) == 1 && !batch[0].group.empty() && batch[0].err == nil {
		batch[0].err, kept = r.recordWith(batch[0])
		return batch[0].err, kept
	}
	if f == nil {
		return nil, true
	}
	if err = r.recordAlone(); err != nil {
		for _, q := range batch {
			q.err = err
		}
	}
	return err, err == nil
}

// arrive ends the flight. A batch that is not in the log is rolled back. The caller holds m.mu.
func (r *round) arrive(f *flight, err error, kept bool) {
	m := r.m
	m.flight = nil
	if fatal(err) {
		m.fail(err)
	}
	if f == nil {
		return
	}
	if kept {
		m.counters.count(r)
		r.writeLog()
		return
	}
	f.rolledBack = true
	r.rollBack(mark{})
	r.follow()
}

// follow updates the clock after changes to leases.
func (r *round) follow() {
	t := &r.m.table
	for _, s := range r.touched {
		if t.byID[s.id] == s {
			t.ends.set(s, s.state.NextEnd())
		}
	}
	r.m.setClock()
}

// mark is a point of a round to which it can be rolled back.
type mark struct {
	rollbackLog, facts, events, transitions, lines int
	at                                             *sem
}

func (r *round) mark() mark {
	return mark{len(r.rollbackLog), len(r.facts.b), len(r.events), r.transitions, len(r.lines), r.facts.at}
}

// rollBack reverts the steps since a mark.
func (r *round) rollBack(to mark) {
	for i := len(r.rollbackLog) - 1; i >= to.rollbackLog; i-- {
		r.rollbackLog[i].revert(&r.m.table)
	}
	r.rollbackLog, r.facts.b, r.events, r.lines = r.rollbackLog[:to.rollbackLog], r.facts.b[:to.facts], r.events[:to.events], r.lines[:to.lines]
	r.transitions, r.facts.at, r.undecided = to.transitions, to.at, r.undecided[:0]
}

// vhost returns the virtual host of the current request.
func (r *round) vhost() catalog.VHostID { return r.q.s.VHostID() }

// user returns the user of the current request.
func (r *round) user() string { return r.q.s.User }

// find returns the semaphore of a key. Errors: ErrNotFound.
func (r *round) find(key string) (*sem, error) {
	if s := r.m.table.find(r.vhost(), key); s != nil {
		return s, nil
	}
	return nil, notFound(r.q.s, key)
}
