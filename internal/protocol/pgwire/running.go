package pgwire

import (
	"context"
	"sync"
	"time"
)

// lookEvery is the interval at which the server checks that the client of a long statement is still
// connected.
const lookEvery = time.Second

// running tracks the statement that a connection runs, so that other goroutines can interrupt it.
// One context serves successive statements until it is canceled, because a context for each would
// cost more than a small statement.
type running struct {
	mu      sync.Mutex
	ctx     context.Context // guarded by mu; nil: none yet
	cancel  context.CancelFunc
	now     bool // guarded by mu: a statement is running
	stopped bool // guarded by mu: none may run any more

	gone func() bool // reports whether the client has left
	look *time.Timer // guarded by mu
}

// begin returns the context of the statement that begins.
func (r *running) begin() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx == nil || r.ctx.Err() != nil {
		r.ctx, r.cancel = context.WithCancel(context.Background())
	}
	if r.stopped {
		r.cancel()
	}
	r.now = true
	if r.look == nil {
		r.look = time.AfterFunc(lookEvery, r.lookOut)
	} else {
		r.look.Reset(lookEvery)
	}
	return r.ctx
}

// lookOut cancels a statement whose client has disconnected, since its result could not be
// delivered. Such a statement may be waiting for a message, for example.
func (r *running) lookOut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.now:
	case r.gone():
		r.cancel()
	default:
		r.look.Reset(lookEvery)
	}
}

// done marks the statement as finished, so that a late cancel request has no effect.
func (r *running) done() {
	r.mu.Lock()
	r.now = false
	r.look.Stop()
	r.mu.Unlock()
}

// busy reports whether a statement is running.
func (r *running) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// interrupt cancels the running statement, if there is one. Any goroutine may call it.
func (r *running) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now {
		r.cancel()
	}
}

// stop cancels the running statement and all that would follow. Any goroutine may call it.
func (r *running) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.cancel != nil {
		r.cancel()
	}
}
