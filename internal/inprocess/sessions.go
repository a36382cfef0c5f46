package inprocess

import (
	"context"
	"fmt"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
)

// sessions is a pool of engine sessions. Each call uses one at a time.
type sessions struct {
	broker *broker.Broker
	vhost  string
	ended  error // the error of calls after Close

	closed context.Context // done when Close begins
	close  context.CancelFunc

	mu   sync.Mutex
	idle []*broker.Session // guarded by mu
}

func newSessions(b *broker.Broker, vhost string, ended error) *sessions {
	s := &sessions{broker: b, vhost: vhost, ended: ended}
	s.closed, s.close = context.WithCancel(context.Background())
	return s
}

// get returns a session for one call. The caller puts it back.
func (p *sessions) get(ctx context.Context) (*broker.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Err() != nil {
		return nil, p.ended
	}
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s, nil
	}
	return p.broker.Operate(p.vhost)
}

func (p *sessions) put(s *broker.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Err() != nil {
		s.Close()
		return
	}
	p.idle = append(p.idle, s)
}

// alarm returns the alarm that blocks additions, as the protocols report it, or nil if there is
// none.
func (p *sessions) alarm(noRoom error) error {
	if a := p.broker.Alarm(); a != nil {
		return fmt.Errorf("%w (%s)", noRoom, a.Reason)
	}
	return nil
}

// Close ends calls that wait, and closes the sessions. The engine keeps running.
func (p *sessions) Close() error {
	p.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.idle {
		s.Close()
	}
	p.idle = nil
	return nil
}
