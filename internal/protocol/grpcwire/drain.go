package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
)

// goawayStage is how far the connection is on its way to a polite end.
type goawayStage uint8

const (
	goawayNone  goawayStage = iota
	goawayHeads             // the client was told to open no further calls; those on their way are taken
	goawayFinal             // it was told which is the last one taken
)

// drainPing tells by its answer that the client has seen the first farewell.
var drainPing = [8]byte{'d', 'r', 'a', 'i', 'n'}

// Drain implements protocol.Session.
func (c *conn) Drain() {
	c.draining.Store(true)
	c.in.Kick()
}

// drain does what Drain asks for, on the reader's goroutine. false: the
// connection is over.
func (c *conn) drain() bool {
	c.draining.Store(false)
	if !c.settled {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.goaway != goawayNone {
		return true
	}
	c.goaway = goawayHeads
	b := appendGoAway(c.out.begin(), mostWindow, http2.ErrCodeNo, "")
	c.out.end(appendFrame(b, http2.FramePing, 0, 0, drainPing[:]...))
	time.AfterFunc(drainPingWait, func() { // a client that answers no pings
		c.mu.Lock()
		defer c.mu.Unlock()
		c.finalGoAway()
	})
	return true
}

// drainAnswered goes on when the client has seen the first farewell: no call was
// on its way that we have not seen.
func (c *conn) drainAnswered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finalGoAway()
}

// finalGoAway tells which call is the last. The connection ends with the last of
// those that are open. mu is held.
func (c *conn) finalGoAway() {
	if c.goaway != goawayHeads {
		return
	}
	c.goaway = goawayFinal
	c.out.end(appendGoAway(c.out.begin(), c.lastID, http2.ErrCodeNo, ""))
	if len(c.calls) == 0 {
		c.leave()
	}
}

// Abandon implements protocol.Abandoner: the open calls end with Options.Abandoned, and no frame
// follows. A call of which a part of a message is sent ends with the connection. So do all when
// there are answers to be written: they cannot be taken back, since headers build on those before.
func (c *conn) Abandon() {
	if !c.greeted.Load() {
		c.Kill()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out.partly != nil || c.out.answers {
		c.Kill()
		return
	}
	for _, call := range c.calls {
		if len(call.queue) == 0 {
			c.end(call, c.srv.o.Abandoned)
		}
	}
	c.out.end(appendGoAway(c.out.begin(), c.lastID, http2.ErrCodeNo, ""))
	c.out.shut = true
	c.out.signal()
	c.leave()
}

// sayGoAway tells the client why its connection ends now.
func (c *conn) sayGoAway(code http2.ErrCode, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.end(appendGoAway(c.out.begin(), c.lastID, code, text))
}
