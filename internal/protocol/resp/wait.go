package resp

import (
	"context"
	"errors"
	"sync"
	"time"
)

// waiting is the wait of a connection for a message or a semaphore, for code that ends the wait.
type waiting struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc // guarded by mu; nil if it does not wait
	waits  func() bool             // guarded by mu; reports whether there is still no result
	left   bool                    // guarded by mu; the connection ends, so a new wait ends at once
}

// The causes that end a wait, apart from its timeout.
var (
	errUnblocked   = errors.New("unblocked")
	errUnblockedBy = errors.New("unblocked with an error")
	errLeft        = errors.New("the connection ends")
)

func (w *waiting) begin(waits func() bool, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w.mu.Lock()
	w.cancel, w.waits = cancel, waits
	if w.left {
		cancel(errLeft)
	}
	w.mu.Unlock()
	if timeout == 0 {
		return ctx, func() { cancel(nil) }
	}
	limited, stop := context.WithTimeout(ctx, timeout)
	return limited, func() { stop(); cancel(nil) }
}

func (w *waiting) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel, w.waits = nil, nil
}

// active reports whether the connection waits and has no result yet. Any goroutine may call it.
func (w *waiting) active() bool {
	w.mu.Lock()
	waits := w.waits
	w.mu.Unlock()
	return waits != nil && waits() // not under mu: it may wait for a shard, and a shard for leave
}

// leave ends the wait, and makes later waits end at once. Any goroutine may call it.
func (w *waiting) leave() {
	w.mu.Lock()
	w.left = true
	w.mu.Unlock()
	w.stop(errLeft)
}

// stop ends the wait with the cause why, and reports whether there was one. Any goroutine may call
// it.
func (w *waiting) stop(why error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel == nil {
		return false
	}
	w.cancel(why)
	return true
}

// unblock ends the wait for CLIENT UNBLOCK, and reports whether there was one.
func (w *waiting) unblock(withError bool) bool {
	if withError {
		return w.stop(errUnblockedBy)
	}
	return w.stop(errUnblocked)
}
