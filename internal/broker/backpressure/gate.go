// Package backpressure holds publishers back: all of them while the broker is behind (Gate), and
// those of one queue while its consumers nearly keep up (Pace).
package backpressure

import (
	"sync"
	"sync/atomic"
)

// Gate holds publishers back, each on its own connection, while over reports that the broker is
// behind or its memory used up; consumers continue. If that lasts, the watchdog raises an alarm:
// then the protocols stop reading and tell their clients.
type Gate struct {
	over    func() bool
	waiting atomic.Int32

	mu     sync.Mutex
	cond   *sync.Cond
	closed bool
}

// NewGate returns a gate that is shut while over returns true. Any goroutine may call over.
func NewGate(over func() bool) *Gate {
	g := &Gate{over: over}
	g.cond = sync.NewCond(&g.mu)
	return g
}

// Await returns when there is room, or when the gate was closed for good.
func (g *Gate) Await() {
	if !g.over() {
		return
	}
	g.mu.Lock()
	g.waiting.Add(1)
	for g.over() && !g.closed {
		g.cond.Wait()
	}
	g.waiting.Add(-1)
	g.mu.Unlock()
}

// Holds reports whether Await would wait now. Any goroutine may call it.
func (g *Gate) Holds() bool { return g.over() }

// Relieve resumes waiting publishers if there is room. A goroutine that has made room calls it.
func (g *Gate) Relieve() {
	if g.waiting.Load() == 0 || g.over() {
		return
	}
	g.mu.Lock()
	g.cond.Broadcast()
	g.mu.Unlock()
}

// Close ends all waits, now and from now on.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	g.cond.Broadcast()
	g.mu.Unlock()
}
