package resp

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol"
)

const (
	watchAfter = time.Millisecond // a wait that ends sooner is not worth a second goroutine
	mostAhead  = 64 << 10         // bytes read while a request waits
)

// await does a request that may wait. Everything before it has been answered.
func (c *conn) await(b blocker, cmds []broker.Command, timeout time.Duration) {
	if c.flush(); c.over {
		return
	}
	if e, ok := b.(eager); ok {
		if err := c.session.Do(b.commands(nil)...); err != nil || e.answered() {
			c.tellOf(b, err)
			return
		}
	}
	c.giveBack()
	ctx, release := c.waits.begin(c.session, timeout)
	stop := c.watch()
	i, err := c.session.Await(ctx, cmds...)
	c.waits.end()
	stop()
	why := context.Cause(ctx)
	release()
	c.resume()
	switch {
	case i < 0 && errors.Is(why, errLeft):
		c.over = true
	case i < 0 && errors.Is(why, errUnblockedBy):
		c.answer(func() { c.w.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK") })
	default:
		c.tellOf(b, err)
	}
}

// tellOf answers a request, or tells that all failed.
func (c *conn) tellOf(r request, failed error) {
	c.answer(func() {
		if failed != nil {
			replyWith(&c.w, failed)
			return
		}
		r.reply(&c.w)
	})
}

// watch reads on while a request waits, so that the end of the connection ends the wait. stop gives the reading back.
func (c *conn) watch() (stop func()) {
	var over atomic.Bool
	done := make(chan struct{})
	late := time.AfterFunc(watchAfter, func() {
		defer close(done)
		for len(c.in.Pending()) < mostAhead {
			switch err := c.in.Fill(0); {
			case errors.Is(err, protocol.ErrKicked):
				if over.Load() {
					return
				}
			case err != nil:
				c.waits.stop(errLeft)
				return
			}
		}
	})
	return func() {
		if !late.Stop() {
			over.Store(true)
			c.in.Kick() // when it does not read any more, the next read is woken for nothing
			<-done
		}
	}
}
