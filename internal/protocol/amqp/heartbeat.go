package amqp

import (
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// idleTick is how often a connection without heartbeats is checked.
const idleTick = 30 * time.Second

// grid is what the checks of a connection are aligned to unless they are frequent. Many idle
// connections then wake the process once a second together, not each by itself.
const grid = time.Second

// untilNext returns the time until the next check: every, or up to a grid less.
func untilNext(every time.Duration) time.Duration {
	if every < 4*grid {
		return every
	}
	return every - time.Duration(time.Now().Add(every).UnixNano()%int64(grid))
}

// stuckWrite is the least time that a client with heartbeats may take to read anything before it is
// considered dead.
const stuckWrite = 30 * time.Second

// heartbeat checks a connection twice per interval. It sends a heartbeat unless a write is pending,
// and ends the connection if the client was silent for two intervals. It sends heartbeats even
// after a recent write: otherwise the client could receive nothing for nearly an interval, and some
// clients (amqp-client.js) wait no longer.
type heartbeat struct {
	interval time.Duration // as negotiated, 0 = no heartbeats; set before start

	mu      sync.Mutex
	timer   *time.Timer // guarded by mu: nil before start
	stopped bool        // guarded by mu

	// Used only by the timer's goroutine.
	reads  uint64
	silent int // checks since something was read
}

// start starts the checks when the connection is open.
func (h *heartbeat) start(c *conn) {
	every := idleTick
	if h.interval > 0 {
		every = h.interval / 2
		c.out.timeout.Store(int64(max(2*h.interval, stuckWrite)))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopped {
		h.timer = time.AfterFunc(untilNext(every), func() { h.look(c, h.interval > 0, every) })
	}
}

// started reports whether the connection was opened.
func (h *heartbeat) started() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.timer != nil
}

func (h *heartbeat) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	if h.timer != nil {
		h.timer.Stop()
	}
}

// silentLooks is the number of checks in two intervals.
const silentLooks = 4

func (h *heartbeat) look(c *conn, beats bool, every time.Duration) {
	if beats && c.out.size.Load() == 0 {
		c.out.add(amqpwire.AppendHeartbeat)
		c.out.signal()
	}
	reads := c.in.Reads()
	switch {
	case reads != h.reads, !c.in.Waiting():
		h.reads, h.silent = reads, 0
	default:
		h.silent++
	}
	if h.silent == 1 {
		c.idle.Store(true)
		c.in.Kick()
	}
	if beats && h.silent >= silentLooks {
		c.srv.o.Log.Warn("amqp: no heartbeat from a client, closing the connection", "conn", c.id, "peer", c.nc.RemoteAddr())
		c.Kill()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopped {
		h.timer.Reset(untilNext(every))
	}
}
