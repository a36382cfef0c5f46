package resp

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

const (
	watchAfter = time.Millisecond // a wait that ends sooner is not worth a second goroutine
	mostAhead  = 64 << 10         // bytes read while a request waits
)

// await runs a request that may block. All earlier requests have been answered.
func (c *conn) await(b command.Blocker, cmds []broker.Command, timeout time.Duration) {
	if c.flush(); c.over {
		return
	}
	if e, ok := b.(command.MultiPollable); ok {
		if err := c.session.Do(b.Commands(nil)...); err != nil || e.Answered() {
			c.tellOf(b, err)
			return
		}
	}
	var i int
	var err error
	why := c.block(c.session.Waits, timeout, func(ctx context.Context) { i, err = c.session.Await(ctx, cmds...) })
	if i < 0 && c.wasStopped(why) {
		return
	}
	c.tellOf(b, err)
}

// awaitTask runs a semaphore request that may block. All earlier requests have been answered.
func (c *conn) awaitTask(r command.SemaphoreBlocker) {
	if c.flush(); c.over {
		return
	}
	var err error
	why := c.block(func() bool { return true }, r.Timeout(), func(ctx context.Context) { err = r.Await(ctx, c) })
	if !r.Satisfied() && err == nil && c.wasStopped(why) {
		return
	}
	c.tellOf(r, err)
}

// block calls fn, which waits until it has its result or its context ends: on a timeout or when
// something ends the wait. It returns the cause of the context's end, or nil. waits reports whether
// fn still has no result.
func (c *conn) block(waits func() bool, timeout time.Duration, fn func(ctx context.Context)) (why error) {
	c.giveBack()
	ctx, release := c.waits.begin(waits, timeout)
	stop := c.watch()
	fn(ctx)
	c.waits.end()
	stop()
	why = context.Cause(ctx)
	release()
	c.resume()
	return why
}

// wasStopped reports whether a request without a result must not get its usual reply because of
// why, the cause that ended its wait. It then closes the connection or sends the error instead.
func (c *conn) wasStopped(why error) bool {
	switch {
	case errors.Is(why, errLeft):
		c.over = true
	case errors.Is(why, errUnblockedBy):
		c.answer(func() { c.w.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK") })
	default:
		return false
	}
	return true
}

// tellOf writes the reply of a request, or the error failed if it is not nil.
func (c *conn) tellOf(r command.Request, failed error) {
	c.answer(func() {
		if failed != nil {
			command.Fail(&c.w, failed)
			return
		}
		r.Reply(&c.w)
	})
}

// readAhead reads once while a request waits. If much has been read, it leaves the rest and waits
// for the end of the connection.
func (c *conn) readAhead() error {
	if len(c.in.Pending()) < mostAhead {
		return c.in.Fill(0)
	}
	return c.in.AwaitEnd()
}

// watch keeps reading while a request waits, so that the end of the connection ends the wait. After
// stop returns, nothing else reads from the connection.
func (c *conn) watch() (stop func()) {
	var over atomic.Bool
	done := make(chan struct{})
	late := time.AfterFunc(watchAfter, func() {
		defer close(done)
		for {
			switch err := c.readAhead(); {
			case errors.Is(err, protocol.ErrKicked):
				if over.Load() {
					return
				}
			case errors.Is(err, errors.ErrUnsupported):
				return
			case err != nil:
				c.waits.stop(errLeft)
				return
			}
		}
	})
	return func() {
		if !late.Stop() {
			over.Store(true)
			c.in.Kick() // if the goroutine has ended, this wakes the next read needlessly
			<-done
		}
	}
}
