package semaphores

import "fiveways/internal/broker"

// What one group of the log takes: rounds end when they have more, and the next one goes on.
const (
	roundTransitions = 1000
	roundBytes       = 256 << 10
)

// round is one turn of the manager: changes, what the rule makes of them, and what is told of both.
type round struct {
	m     *Manager
	n     uint64
	now   int64    // unix µs
	q     *request // in hand
	facts facts
	undo  []edit

	touched     []*sem
	undecided   []*sem  // altered by the request in hand; empty between requests
	events      []Event // in order
	transitions int
	lines       []logLine
}

// flight is a group of the log on its way.
type flight struct {
	n      uint64
	events []Event
	done   chan struct{} // closed when it is durable, or was undone
	undone bool
}

// round does the requests of a batch, as many as fit, and returns how many. After it they are durable, or their error says what happened.
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

// spareMost is how many steps the room of a round may have to be used again by the next one.
const spareMost = 4 * roundTransitions

// begin begins a round. m.mu is held.
func (r *round) begin(m *Manager) {
	m.n++
	r.m, r.n, r.now = m, m.n, m.o.Now().UnixMicro()
}

// end clears it for the next one.
func (r *round) end() {
	clear(r.undo)
	clear(r.touched)
	clear(r.events)
	spare := round{facts: facts{b: r.facts.b[:0]}, undo: r.undo[:0], touched: r.touched[:0],
		undecided: r.undecided[:0], events: r.events[:0]}
	if cap(r.undo) > spareMost || cap(r.events) > spareMost || cap(r.facts.b) > 2*roundBytes {
		spare = round{}
	}
	*r = spare
}

// doAll does requests, as many as fit, and what is due. One that may be undone, because of what else is in its group, has the round for itself.
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

// full tells whether nothing more is to go into the group of the log.
func (r *round) full() bool { return r.transitions >= r.m.most || len(r.facts.b) >= roundBytes }

// do does the changes of a request, or nothing of them.
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
			r.decide(nil) // what it shows must not contradict the answers of the changes before it
		}
		if o.Err == nil {
			o.Err = c.do(r)
		}
		if o.Err != nil && q.group.Must {
			r.back(mark)
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

// depart puts what was changed on its way to the log; nil: nothing was. m.mu is held.
func (r *round) depart() *flight {
	r.follow()
	if len(r.facts.b) == 0 {
		return nil
	}
	f := &flight{n: r.n, events: r.events, done: make(chan struct{})}
	r.m.flight = f
	return f
}

// record makes the group durable, with what else goes with it. kept tells whether it is in the log.
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

// arrive ends the flight: what is not in the log is undone. m.mu is held.
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
	f.undone = true
	r.back(mark{})
	r.follow()
}

// follow has the clock know of the leases as they are now.
func (r *round) follow() {
	t := &r.m.table
	for _, s := range r.touched {
		if t.byID[s.id] == s {
			t.ends.set(s, s.state.NextEnd())
		}
	}
	r.m.setClock()
}

// mark is a point of a round to which it can be taken back.
type mark struct {
	undo, facts, events, transitions, lines int
	at                                      *sem
}

func (r *round) mark() mark {
	return mark{len(r.undo), len(r.facts.b), len(r.events), r.transitions, len(r.lines), r.facts.at}
}

// back undoes what was done since a mark.
func (r *round) back(to mark) {
	for i := len(r.undo) - 1; i >= to.undo; i-- {
		r.undo[i].undo(&r.m.table)
	}
	r.undo, r.facts.b, r.events, r.lines = r.undo[:to.undo], r.facts.b[:to.facts], r.events[:to.events], r.lines[:to.lines]
	r.transitions, r.facts.at, r.undecided = to.transitions, to.at, r.undecided[:0]
}

// vhost is that of the request in hand.
func (r *round) vhost() broker.VHostID { return r.q.s.VHostID() }

// user is who asks.
func (r *round) user() string { return r.q.s.User }

// find returns the semaphore of a key. Errors: ErrNotFound.
func (r *round) find(key string) (*sem, error) {
	if s := r.m.table.find(r.vhost(), key); s != nil {
		return s, nil
	}
	return nil, notFound(r.q.s, key)
}
