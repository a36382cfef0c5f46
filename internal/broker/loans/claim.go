package loans

import (
	"context"

	"fiveways.dev/fiveways/internal/broker"
)

// Claim is the exclusive right of a session to publish a message under a name, until it is
// released.
type Claim struct {
	key  claimKey
	by   *broker.Session
	of   *Manager
	over chan struct{} // closed by Release
}

type claimKey struct{ vhost, name string }

// Claim acquires the claim to a name in the session's virtual host, and waits while another session
// has it. fresh is false if the session already had it. Errors: ErrDeadlock, ErrClosed, that of
// ctx.
func (t *Transaction) Claim(ctx context.Context, s *broker.Session, name string) (c *Claim, fresh bool, err error) {
	ended, err := s.Ended()
	if err != nil {
		return nil, false, err
	}
	mine := &Claim{key: claimKey{s.VHost(), name}, by: s, of: t.Manager, over: make(chan struct{})}
	for {
		have := t.Manager.add(mine)
		if have.by == s {
			return have, have == mine, nil
		}
		if err := t.await(ctx, s, resource{claim: have}, have.over, ended, nil); err != nil {
			return nil, false, err
		}
	}
}

// add returns the current claim to the name: c itself if there was none.
func (m *Manager) add(c *Claim) *Claim {
	m.mu.Lock()
	defer m.mu.Unlock()
	if have := m.claims[c.key]; have != nil {
		return have
	}
	if m.claims == nil {
		m.claims = map[claimKey]*Claim{}
	}
	m.claims[c.key] = c
	return c
}

// Release ends a claim. It does nothing for nil and for a claim that has ended.
func (c *Claim) Release() {
	if c == nil {
		return
	}
	m := c.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims[c.key] == c {
		delete(m.claims, c.key)
		close(c.over)
	}
}
