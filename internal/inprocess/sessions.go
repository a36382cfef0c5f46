package inprocess

import (
	"context"
	"fmt"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
)

// sessions are those of calls into the engine: one call has one at a time.
type sessions struct {
	broker *broker.Broker
	vhost  string
	ended  error // of calls after Close

	closed context.Context // ends when Close begins
	close  context.CancelFunc

	mu   sync.Mutex
	idle []*broker.Session // guarded by mu
}

func newSessions(b *broker.Broker, vhost string, ended error) *sessions {
	s := &sessions{broker: b, vhost: vhost, ended: ended}
	s.closed, s.close = context.WithCancel(context.Background())
	return s
}

// get gives a session for one call, to be put back.
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

// alarm is why nothing can be added now, as the protocols have it; nil when it can.
func (p *sessions) alarm(noRoom error) error {
	if a := p.broker.Alarm(); a != nil {
		return fmt.Errorf("%w (%s)", noRoom, a.Reason)
	}
	return nil
}

// Close ends what waits, and gives the sessions back. The engine goes on.
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
