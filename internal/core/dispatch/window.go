package dispatch

import "sync/atomic"

// WindowBytes is how much a connection may have encoded but not written before the engine stops
// delivering to it.
const WindowBytes = 1 << 20

// Window limits the deliveries to one connection that are encoded but not written: the sink adds
// what it encodes, and the connection's writer subtracts what it has written.
type Window struct {
	used    atomic.Int64
	starved atomic.Bool // a shard has stopped delivering and waits for Done
	wake    func()
}

// Init initializes a window. wake is called, on any goroutine, when it has room again.
func (w *Window) Init(wake func()) { w.wake = wake }

// Add counts n bytes encoded for the client.
func (w *Window) Add(n int) { w.used.Add(int64(n)) }

// Done counts n bytes written, and wakes the shards once the window is half empty.
func (w *Window) Done(n int) {
	if w.used.Add(-int64(n)) <= WindowBytes/2 && w.starved.Load() && w.starved.Swap(false) {
		w.wake()
	}
}

// Full reports whether a shard must stop delivering. It sets the mark before it checks again, so
// that a Done in between is not missed.
func (w *Window) Full() bool {
	if w.used.Load() < WindowBytes {
		return false
	}
	w.starved.Store(true) // the mark stays: another shard may rely on it, and an extra wake is harmless
	return w.used.Load() > WindowBytes/2
}
