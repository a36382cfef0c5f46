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
	cancel context.CancelCauseFunc // guarded by mu; nil: it does not wait
	waits  func() bool             // guarded by mu; nothing has come yet
	left   bool                    // guarded by mu; the connection ends: a wait that begins ends at once
}

// The causes of the end of a wait, beside its time.
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

// active reports whether it waits and nothing has come yet. Any goroutine may call it.
func (w *waiting) active() bool {
	w.mu.Lock()
	waits := w.waits
	w.mu.Unlock()
	return waits != nil && waits() // not under mu: it may wait for a shard, and a shard for leave
}

// leave ends the wait and all that would begin. Any goroutine may call it.
func (w *waiting) leave() {
	w.mu.Lock()
	w.left = true
	w.mu.Unlock()
	w.stop(errLeft)
}

// stop ends the wait, if there is one. Any goroutine may call it.
func (w *waiting) stop(why error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel == nil {
		return false
	}
	w.cancel(why)
	return true
}

// unblock is what CLIENT UNBLOCK asks for.
func (w *waiting) unblock(withError bool) bool {
	if withError {
		return w.stop(errUnblockedBy)
	}
	return w.stop(errUnblocked)
}
