package respclient

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Pipeline collects the commands that goroutines send while a pipeline is in flight; the next
// pipeline sends them all. So a single request does not wait for others, and many concurrent ones
// share a round trip. In the zero value only Client must be set.
type Pipeline struct {
	Client *redis.Client

	mu      sync.Mutex
	waiting []*call
	flying  bool // a goroutine is sending
}

// call holds the commands of one goroutine.
type call struct {
	cmds []*redis.Cmd
	done chan struct{} // closed when cmds have their results
}

// maxPipeline is the maximum number of commands in a pipeline, unless a single call has more.
const maxPipeline = 1024

// Do executes commands and returns when they have their results. If ctx is done before, it returns
// the error of ctx. Then the caller must not read the commands, which may have been executed.
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

// fly sends pipelines until no request is waiting.
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
	// Each command that got a reply has a value or an error of its own. If the broker refused the
	// login it has neither.
	for _, c := range calls {
		for _, cmd := range c.cmds {
			if cmd.Err() == nil && cmd.Val() == nil {
				cmd.SetErr(err)
			}
		}
	}
}

// next takes the calls for the next pipeline. It returns nil if there are none.
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
		p.waiting = nil // releases an array that grew during a burst
	}
	return calls
}
