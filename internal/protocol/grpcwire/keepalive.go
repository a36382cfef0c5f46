package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
)

// keepalive detects silent and idle connections. conn.mu guards it.
type keepalive struct {
	ping, idle *time.Timer // nil: disabled or not started
	reads      uint64      // number of reads when ping was set
	asked      bool        // a ping is outstanding
	idleAt     time.Time   // when the last call ended, while none is open
	stopped    bool
}

// startKeepalive starts the timers when the handshake is over.
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

// pingDue sends a ping to a silent client, and closes the connection if the client has not
// answered. It runs on a timer's goroutine.
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
		go c.Kill() // closing a TLS connection may take a while
	default:
		k.asked = true
		c.out.end(appendFrame(c.out.begin(), http2.FramePing, 0, 0, make([]byte, 8)...))
		k.ping.Reset(c.srv.o.PingTimeout)
	}
}

// idleDue drains a connection that had no open call for MaxIdle. It runs on a timer's goroutine.
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
