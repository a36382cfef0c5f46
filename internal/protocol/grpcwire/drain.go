package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
)

// goawayStage is the progress of a graceful shutdown of the connection.
type goawayStage uint8

const (
	goawayNone  goawayStage = iota
	goawayHeads             // the client was told to open no calls; calls in flight are accepted
	goawayFinal             // the client was told the last accepted call
)

// drainPing is the payload of a ping whose answer shows that the client has seen the first GOAWAY.
var drainPing = [8]byte{'d', 'r', 'a', 'i', 'n'}

// Drain implements protocol.Session.
func (c *conn) Drain() {
	c.draining.Store(true)
	c.in.Kick()
}

// drain starts the shutdown that Drain requests, on the reader's goroutine. It returns false if the
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
	time.AfterFunc(drainPingWait, func() { // for a client that answers no pings
		c.mu.Lock()
		defer c.mu.Unlock()
		c.finalGoAway()
	})
	return true
}

// drainAnswered sends the final GOAWAY when the client has seen the first one: every call that the
// client opened before that has arrived.
func (c *conn) drainAnswered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finalGoAway()
}

// finalGoAway tells the client which call is the last. The connection ends when no call is open.
// The caller holds mu.
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
// follows. A call that is sent in part ends with the connection. If answers are still unwritten,
// all calls do: these answers cannot be taken back, since later headers build on the earlier ones.
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

// sayGoAway tells the client why its connection ends.
func (c *conn) sayGoAway(code http2.ErrCode, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.end(appendGoAway(c.out.begin(), c.lastID, code, text))
}
