package semaphores

import (
	"sync"

	"fiveways/internal/broker"
)

// line is who waits to have something done. The first of it leads: he does what has gathered, for all of them, and hands the lead to the first who came
// meanwhile. So one group of the log is on its way at a time, and those who come while it is share the next one.
type line struct {
	mu      sync.Mutex
	waiting []*request
	led     bool
}

// request is what somebody wants done.
type request struct {
	s       *broker.Session
	group   Group
	changes []Change
	// together: the rule is asked once, when all changes are done. Otherwise it is asked after
	// each of them, as if each had come alone.
	together bool
	still    func() // instead: runs while nothing is on its way
	work     func(*round)
	err      error
	turn     chan bool // 1 slot; true: lead, false: it was done
}

// alone tells whether nothing else may go with it.
func (q *request) alone() bool { return q.still != nil || !q.group.empty() }

// large tells whether it may fill a group of the log by itself. It begins one: should the group be too large for the log, nobody else is refused with it.
func (q *request) large() bool {
	const each = MaxTaskBytes + 50 // bytes of a fact, at most
	n := 0
	for _, c := range q.changes {
		switch c := c.(type) {
		case *Enqueue:
			n += len(c.Entries)
		case *Release:
			n += len(c.Tasks)
		}
	}
	return n*each > roundBytes
}

// lineMost is how many requests one round takes.
const lineMost = 1024

// join puts a request at the end; lead: its owner is to lead.
func (l *line) join(q *request) (lead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, q)
	lead = !l.led
	l.led = true
	return lead
}

// take gives the leader those who come first.
func (l *line) take() []*request {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n < min(len(l.waiting), lineMost) {
		if l.waiting[n].alone() {
			if n == 0 {
				n = 1
			}
			break
		}
		n++
	}
	batch := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return batch
}

// back puts those back who did not fit.
func (l *line) back(rest []*request) {
	if len(rest) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(append(make([]*request, 0, len(rest)+len(l.waiting)), rest...), l.waiting...)
}

// pass gives the lead to the next one.
func (l *line) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.waiting, l.led = nil, false
		return
	}
	l.waiting[0].turn <- true
}

// enter has a request done.
func (m *Manager) enter(q *request) error {
	q.turn = make(chan bool, 1)
	if m.line.join(q) || <-q.turn {
		m.lead(q)
	}
	return q.err
}

// lead does one round. The leader's own request is the first of it.
func (m *Manager) lead(own *request) {
	batch := m.line.take()
	done := m.round(batch)
	m.line.back(batch[done:])
	for _, q := range batch[:done] {
		if q != own {
			q.turn <- false
		}
	}
	m.line.pass()
}

// between has fn done while no group of the log is on its way: all that it sees is durable.
func (m *Manager) between(fn func()) error { return m.enter(&request{still: fn}) }
