package semaphores

import (
	"fiveways/internal/broker"
	"fiveways/internal/core/semaphore"
)

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
	spare := round{facts: facts{b: r.facts.b[:0]}, undo: r.undo[:0], touched: r.touched[:0], events: r.events[:0]}
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
	for _, c := range q.changes {
		o := c.of()
		if o.Err == nil {
			o.Err = c.do(r)
		}
		if o.Err != nil && q.group.Must {
			r.back(mark)
			q.err = o.Err
			return
		}
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
	r.transitions, r.facts.at = to.transitions, to.at
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

// touch notes that a semaphore is changed.
func (r *round) touch(s *sem) {
	if s.round != r.n {
		s.round = r.n
		r.touched = append(r.touched, s)
	}
}

// tell notes what happened, for those who watch and, when it is a transition, for the queues.
func (r *round) tell(s *sem, e Event) {
	if e.Event == 0 && !r.m.watchers.any() {
		return
	}
	e.of, e.VHost, e.Key, e.Time = s, s.vhost.Name, s.key, r.now/1000
	r.events = append(r.events, e)
}

// create makes a semaphore.
func (r *round) create(key string, c semaphore.Config) *sem {
	t := &r.m.table
	s := &sem{id: t.lastID + 1, vhost: r.vhost(), key: key, created: r.now / 1000, state: semaphore.New(c)}
	t.add(s)
	r.undo = append(r.undo, edit{kind: undoCreate, s: s})
	r.touch(s)
	r.facts.create(s)
	info := s.info()
	r.tell(s, Event{Info: &info})
	return s
}

// configure changes one. Errors: semaphore.ErrOrder.
func (r *round) configure(s *sem, c semaphore.Config) error {
	was := s.state.Config()
	if was == c {
		return nil
	}
	if err := s.state.Configure(c); err != nil {
		return err
	}
	r.undo = append(r.undo, edit{kind: undoConfigure, s: s, config: was})
	r.touch(s)
	r.facts.configure(s)
	info := s.info()
	r.tell(s, Event{Info: &info})
	return nil
}

// delete frees the key of one; its tasks go by goOn.
func (r *round) delete(s *sem) {
	info := s.info()
	s.deleted = true
	r.m.table.unname(s)
	r.undo = append(r.undo, edit{kind: undoDelete, s: s})
	r.touch(s)
	r.facts.delete(s)
	r.tell(s, Event{Info: &info, Gone: true})
	if s.state.Len() > 0 {
		r.m.table.later(s)
		return
	}
	r.forget(s)
}

// drop forgets one with all its tasks, and tells only those who watch.
func (r *round) drop(s *sem) {
	info := s.info()
	r.facts.drop(s)
	r.touch(s)
	r.tell(s, Event{Info: &info, Gone: true})
	r.forget(s)
}

func (r *round) forget(s *sem) {
	r.m.table.remove(s)
	r.undo = append(r.undo, edit{kind: undoForget, s: s})
}

// put sets a task. was is what it was, without a name when it was not there.
func (r *round) put(s *sem, task, was semaphore.Task) {
	next := s.state.NextSeq()
	if r.m.table.put(s, task) {
		r.undo = append(r.undo, edit{kind: undoAdd, s: s, task: semaphore.Task{ID: task.ID, Seq: next}})
	} else {
		r.undo = append(r.undo, edit{kind: undoPut, s: s, task: was})
	}
	task, _ = s.state.Get(task.ID)
	r.touch(s)
	r.facts.put(s, &task)
	r.tell(s, Event{Task: task, Was: was})
}

// remove takes a task away. ok: it was there.
func (r *round) remove(s *sem, id string) (ok bool) {
	slot := s.state.Slot(id)
	was, ok := r.m.table.take(s, id)
	if !ok {
		return false
	}
	r.undo = append(r.undo, edit{kind: undoRemove, s: s, task: was, slot: slot})
	r.touch(s)
	r.facts.remove(s, id)
	r.tell(s, Event{Task: was, Was: was, Gone: true})
	return true
}

// transition changes the status of a task that is there.
func (r *round) transition(s *sem, id string, e semaphore.Event) {
	was, ok := s.state.Get(id)
	if !ok {
		return
	}
	if s.deleted {
		e = semaphore.EventDeleted
	}
	task, gone := was, false
	undo := edit{kind: undoTransition, s: s, task: was, events: s.events}
	switch e {
	case semaphore.EventAcquired:
		task.Status, task.Until = semaphore.Acquired, r.until(s, &was)
		r.m.table.setStatus(s, id, task.Status, task.Until)
	case semaphore.EventTryRelease:
		task.Status = semaphore.TryRelease
		r.m.table.setStatus(s, id, task.Status, task.Until)
	case semaphore.EventRetained:
		task.Status = semaphore.Acquired
		r.m.table.setStatus(s, id, task.Status, task.Until)
	default:
		gone = true
		undo.kind, undo.slot = undoEnd, s.state.Slot(id)
		r.m.table.take(s, id)
	}
	r.undo = append(r.undo, undo)
	s.events++
	r.transitions++
	r.touch(s)
	r.facts.transition(s, id, e)
	r.tell(s, Event{Event: e, Task: task, Was: was, Gone: gone, Seq: s.events})
}

// until is when the lease of a task ends that begins now; 0: never.
func (r *round) until(s *sem, t *semaphore.Task) int64 {
	if lease := s.lease(t); lease > 0 {
		return r.now/1000 + lease
	}
	return 0
}

// settle has the rule asked until it wants nothing more, or the group is full: then goOn does the rest.
func (r *round) settle(s *sem) {
	if s.deleted {
		r.m.table.later(s)
		return
	}
	for r.transitions < r.m.most {
		t, ok := s.state.Next()
		if !ok {
			return
		}
		r.transition(s, t.Task, t.Event)
	}
	if _, more := s.state.Next(); more {
		r.m.table.later(s)
	}
}

// goOn does what earlier groups of the log had no room for. What is left is for the next one.
func (r *round) goOn() {
	t := &r.m.table
	due := t.due
	t.due = nil
	for i, s := range due {
		if r.full() {
			t.due = append(due[i:len(due):len(due)], t.due...)
			break
		}
		s.waiting = false
		switch {
		case t.byID[s.id] != s:
		case !r.m.b.HasVHost(s.vhost):
			r.drop(s)
		case s.deleted:
			r.clear(s)
		default:
			r.settle(s)
		}
	}
	if len(t.due) > 0 {
		r.m.clock.ring()
	}
}

// clear takes tasks of a deleted semaphore away, and it with the last one.
func (r *round) clear(s *sem) {
	var ids []string
	for task := range s.state.From(1) {
		if len(ids) == r.m.most-r.transitions {
			break
		}
		ids = append(ids, task.ID)
	}
	for _, id := range ids {
		r.transition(s, id, semaphore.EventDeleted)
	}
	if s.state.Len() > 0 {
		r.m.table.later(s)
		return
	}
	r.forget(s)
}

// expire takes the places of tasks whose lease has ended.
func (r *round) expire() {
	t, now := &r.m.table, r.now/1000
	for t.ends.first() <= now && r.transitions < r.m.most {
		s := t.ends[0]
		for _, id := range s.state.Ended(now, r.m.most-r.transitions) {
			r.transition(s, id, semaphore.EventExpired)
		}
		r.settle(s)
		t.ends.set(s, s.state.NextEnd())
	}
}

// ready tells whether it takes changes.
func (m *Manager) ready() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.b == nil {
		return broker.ErrClosed
	}
	return m.failed
}
