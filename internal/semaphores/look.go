package semaphores

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// The default and maximum page size of one read.
const (
	pageDefault = 100
	pageMost    = 10_000
)

// looking is a read-only change, which can run without a round.
type looking interface {
	Change
	look(t *table, s *broker.Session) error
}

func (*Status) needs() string { return toRead }
func (*Look) needs() string   { return toRead }
func (*Page) needs() string   { return toRead }
func (*Scan) needs() string   { return toRead }

func (c *Status) check() error { return checkTasks(c.Key, c.Tasks) }
func (c *Look) check() error   { return nil }
func (c *Page) check() error   { return nil }
func (c *Scan) check() error   { return nil }

func (c *Status) do(r *round) error { return c.look(&r.m.table, r.q.s) }
func (c *Look) do(r *round) error   { return c.look(&r.m.table, r.q.s) }
func (c *Page) do(r *round) error   { return c.look(&r.m.table, r.q.s) }
func (c *Scan) do(r *round) error   { return c.look(&r.m.table, r.q.s) }

// findFor is find in the session's virtual host. Errors: ErrNotFound.
func (t *table) findFor(s *broker.Session, key string) (*sem, error) {
	if found := t.find(s.VHostID(), key); found != nil {
		return found, nil
	}
	return nil, notFound(s, key)
}

func (c *Status) look(t *table, s *broker.Session) error {
	of, err := t.findFor(s, c.Key)
	if err != nil {
		return err
	}
	c.States = make([]State, len(c.Tasks))
	for i, id := range c.Tasks {
		c.States[i] = of.look(id)
	}
	return nil
}

func (c *Look) look(t *table, s *broker.Session) error {
	of, err := t.findFor(s, c.Key)
	if err == nil {
		c.Info = of.info()
	}
	return err
}

func (c *Page) look(t *table, s *broker.Session) error {
	of, err := t.findFor(s, c.Key)
	if err != nil {
		return err
	}
	limit := pageLimit(c.Limit)
	c.States, c.Next = nil, 0
	for at, task := range of.state.Of(c.From, c.Only...) {
		if len(c.States) == limit {
			c.Next = at
			break
		}
		c.States = append(c.States, State{Task: task, Found: true, Position: at})
	}
	return nil
}

func (c *Scan) look(t *table, s *broker.Session) error {
	of, err := t.findFor(s, c.Key)
	if err != nil {
		return err
	}
	limit := pageLimit(c.Limit)
	c.States = slices.Grow(c.States[:0], min(limit, of.state.Len()))
	c.Next = of.state.Scan(c.From, limit, func(t semaphore.Task) { c.States = append(c.States, State{Task: t, Found: true}) })
	return nil
}

func pageLimit(n int) int {
	if n <= 0 {
		return pageDefault
	}
	return min(n, pageMost)
}

// look runs changes that are all reads, without a round. Their results are durable when it returns.
func (m *Manager) look(s *broker.Session, changes []Change) error {
	return m.seen(func() {
		for _, c := range changes {
			c.of().Err = c.(looking).look(&m.table, s)
		}
	})
}

// seen runs fn on the table, and runs it again if the state that it read was rolled back.
func (m *Manager) seen(fn func()) error {
	for {
		m.mu.Lock()
		err := m.failed
		if err == nil {
			fn()
		}
		f := m.flight
		m.mu.Unlock()
		if err != nil || f == nil {
			return err
		}
		if <-f.done; !f.rolledBack {
			return nil
		}
	}
}
