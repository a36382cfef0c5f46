package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
)

// keepalive looks after a connection on which nothing comes. conn.mu guards it.
type keepalive struct {
	ping, idle *time.Timer // nil: not asked for, or not started
	reads      uint64      // of the connection when ping was set
	asked      bool        // a ping of ours is out
	idleAt     time.Time   // since when no call is open, while none is
	stopped    bool
}

// startKeepalive begins when the handshake is over.
func (c *conn) startKeepalive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, o := &c.keep, &c.srv.o
	k.idleAt, k.reads = time.Now(), c.in.Reads()
	if o.PingEvery > 0 {
		k.ping = time.AfterFunc(o.PingEvery, c.pingDue)
	}
	if o.MaxIdle > 0 {
		k.idle = time.AfterFunc(o.MaxIdle, c.idleDue)
	}
}

// stopTimers stops all timers of the connection.
func (c *conn) stopTimers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep.stopped = true
	for _, t := range []*time.Timer{c.keep.ping, c.keep.idle, c.acks.timer, c.stall.timer} {
		if t != nil {
			t.Stop()
		}
	}
}

// pingDue asks a client that was silent whether it is there, and closes the
// connection of one that has not answered. It runs on a timer's goroutine.
func (c *conn) pingDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, reads := &c.keep, c.in.Reads()
	switch {
	case k.stopped:
	case reads != k.reads:
		k.asked, k.reads = false, reads
		k.ping.Reset(c.srv.o.PingEvery)
	case k.asked:
		go c.Kill() // over TLS closing may take a while
	default:
		k.asked = true
		c.out.end(appendFrame(c.out.begin(), http2.FramePing, 0, 0, make([]byte, 8)...))
		k.ping.Reset(c.srv.o.PingTimeout)
	}
}

// idleDue says goodbye to a client that had no call open for long. It runs on a
// timer's goroutine.
func (c *conn) idleDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := &c.keep
	left := c.srv.o.MaxIdle
	if len(c.calls) == 0 {
		left -= time.Since(k.idleAt)
	}
	switch {
	case k.stopped:
	case left > 0:
		k.idle.Reset(left)
	default:
		c.Drain()
	}
}
