package throttle

import (
	"context"
	"time"

	"fiveways.dev/fiveways/internal/core/failure"
)

// Charge is what one or more publishes consume of several limits. First Add sums it up, then Take
// charges it to all limits, then Await waits for each of them. Only one goroutine may use it.
type Charge struct{ dues []due }

// due is the charge of one throttle, with its ticket after Take.
type due struct {
	throttle        *throttle
	messages, bytes int64
	ticket          ticket
}

// Add adds a message to the charge of a limit; nil means no limit.
func (c *Charge) Add(l *Limit, bytes int64) {
	if l == nil {
		return
	}
	t := l.throttle.Load()
	if t == nil {
		return
	}
	for i := range c.dues {
		if d := &c.dues[i]; d.throttle == t {
			d.messages++
			d.bytes += bytes
			return
		}
	}
	c.dues = append(c.dues, due{throttle: t, messages: 1, bytes: bytes})
}

// Empty reports whether no limit applies.
func (c *Charge) Empty() bool { return len(c.dues) == 0 }

// Take takes the tickets. waits reports whether any of them must wait.
func (c *Charge) Take() (waits bool) {
	for i := range c.dues {
		d := &c.dues[i]
		d.ticket = d.throttle.charge(d.messages, d.bytes)
		left, _ := d.throttle.left(d.ticket)
		waits = waits || left > 0
	}
	return waits
}

// Await returns when all tickets are due, or when w hurries. Errors: failure.ErrClosed if the
// client is gone first, failure.ErrUserDeleted after Limit.EndUser, and that of ctx.
func (c *Charge) Await(ctx context.Context, w Waiter) error {
	for i := range c.dues {
		d := &c.dues[i]
		for left, changed := d.throttle.left(d.ticket); left > 0; left, changed = d.throttle.left(d.ticket) {
			if over, err := w.sleep(ctx, left, changed); over {
				return err
			}
		}
		if d.throttle.hasEnded() {
			return failure.ErrUserDeleted
		}
	}
	return nil
}

// Waiter is a client whose publishes wait.
type Waiter struct {
	Hurry <-chan struct{} // closed when nothing waits any more
	Done  <-chan struct{} // closed when the client is gone
	// Gone reports whether the client has disconnected, which nothing else may notice while it
	// waits. nil: unknown.
	Gone func() bool
}

// lookEvery is the interval at which a wait checks that its client is still connected.
const lookEvery = time.Second

// sleep waits for d, or until changed is closed. over is true if there is no more reason to wait.
func (w *Waiter) sleep(ctx context.Context, d time.Duration, changed <-chan struct{}) (over bool, err error) {
	if w.Gone != nil {
		d = min(d, lookEvery)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		if w.Gone == nil || !w.Gone() {
			return false, nil
		}
	case <-changed:
		return false, nil
	case <-ctx.Done():
		return true, ctx.Err()
	case <-w.Hurry:
	case <-w.Done:
	}
	select {
	case <-w.Hurry: // the connection may end because the broker does
		return true, nil
	default:
		return true, failure.ErrClosed
	}
}
