package semaphores

import (
	"sync"

	"fiveways.dev/fiveways/internal/broker"
)

// combiner queues requests. One caller leads: it executes the waiting requests in one round, then
// passes the lead to the first request that has arrived in the meantime. So only one batch of the
// log is in flight at a time, and requests that arrive during it share the next one.
type combiner struct {
	mu      sync.Mutex
	waiting []*request
	led     bool
}

// request is a list of changes, or work to run instead.
type request struct {
	s       *broker.Session
	group   Group
	changes []Change
	// together means that the rule is applied once, after all changes. Otherwise it is applied
	// after each change, as if each had come separately.
	together bool
	still    func() // if set, runs instead while no batch is in flight
	work     func(*round)
	err      error
	lead     chan bool // capacity 1; true: lead, false: the request is done
}

// alone reports whether the request needs a round of its own.
func (q *request) alone() bool { return q.still != nil || !q.group.empty() }

// large reports whether the request may fill a batch of the log by itself. Such a request begins a
// round: if the batch is too large for the log, no other request fails with it.
func (q *request) large() bool {
	const each = MaxTaskBytes + 50 // maximum bytes of a fact
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

// maxRequests is the maximum number of requests in one round.
const maxRequests = 1024

// join queues a request. lead reports whether the caller must lead.
func (c *combiner) join(q *request) (lead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, q)
	lead = !c.led
	c.led = true
	return lead
}

// take removes the requests of the next round from the queue, in order.
func (c *combiner) take() []*request {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < min(len(c.waiting), maxRequests) {
		if c.waiting[n].alone() {
			if n == 0 {
				n = 1
			}
			break
		}
		n++
	}
	batch := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	return batch
}

// requeue returns the requests that did not fit to the front of the queue.
func (c *combiner) requeue(rest []*request) {
	if len(rest) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(append(make([]*request, 0, len(rest)+len(c.waiting)), rest...), c.waiting...)
}

// passLead passes the lead to the next request.
func (c *combiner) passLead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.waiting, c.led = nil, false
		return
	}
	c.waiting[0].lead <- true
}

// execute runs a request and returns when it is done.
func (m *Manager) execute(q *request) error {
	q.lead = make(chan bool, 1)
	if m.combiner.join(q) || <-q.lead {
		m.lead(q)
	}
	return q.err
}

// lead runs one round. The leader's own request is its first.
func (m *Manager) lead(own *request) {
	batch := m.combiner.take()
	done := m.round(batch)
	m.combiner.requeue(batch[done:])
	for _, q := range batch[:done] {
		if q != own {
			q.lead <- false
		}
	}
	m.combiner.passLead()
}

// between runs fn while no batch is in flight: everything it sees is durable.
func (m *Manager) between(fn func()) error { return m.execute(&request{still: fn}) }
