package respclient

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Pipeline gathers what goroutines send while a pipeline is on its way to the broker and back; the
// next one takes it all. So a single request does not wait for others, and many concurrent ones
// share a round trip. The zero value needs only its Client.
type Pipeline struct {
	Client *redis.Client

	mu      sync.Mutex
	waiting []*call
	flying  bool // a goroutine is at it
}

// call is what one goroutine asks.
type call struct {
	cmds []*redis.Cmd
	done chan struct{} // closed when cmds have their answers or errors
}

// maxPipeline is how many commands a pipeline begins with at most, or one call's.
const maxPipeline = 1024

// Do asks, and returns when the commands have their answers. When ctx ends before, its error is
// returned, and the commands are not to be looked at: they may be done.
func (p *Pipeline) Do(ctx context.Context, cmds ...*redis.Cmd) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{cmds, make(chan struct{})}
	p.mu.Lock()
	p.waiting = append(p.waiting, c)
	if !p.flying {
		p.flying = true
		go p.fly()
	}
	p.mu.Unlock()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fly sends pipelines until no request waits.
func (p *Pipeline) fly() {
	for {
		calls := p.next()
		if calls == nil {
			return
		}
		p.send(calls)
		for _, c := range calls {
			close(c.done)
		}
	}
}

// send sends one pipeline.
func (p *Pipeline) send(calls []*call) {
	pipe := p.Client.Pipeline()
	for _, c := range calls {
		for _, cmd := range c.cmds {
			_ = pipe.Process(context.Background(), cmd)
		}
	}
	_, err := pipe.Exec(context.Background())
	if err == nil {
		return
	}
	// Each command that was answered has its own error, or a value. When the broker refused the
	// login there is neither.
	for _, c := range calls {
		for _, cmd := range c.cmds {
			if cmd.Err() == nil && cmd.Val() == nil {
				cmd.SetErr(err)
			}
		}
	}
}

// next takes calls; nil when there are none.
func (p *Pipeline) next() []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, commands := 0, 0
	for n < len(p.waiting) && (n == 0 || commands+len(p.waiting[n].cmds) <= maxPipeline) {
		commands += len(p.waiting[n].cmds)
		n++
	}
	if n == 0 {
		p.flying = false
		return nil
	}
	calls := p.waiting[:n:n]
	if p.waiting = p.waiting[n:]; len(p.waiting) == 0 {
		p.waiting = nil // what has grown in a rush is let go
	}
	return calls
}
