package statemachine

import (
	"sync"
	"sync/atomic"
)

// applying says what applies entries to the machine: its goroutine, or inline a caller that waits
// for one of them anyway.
//
// Invariant: while something is ready, the turn is taken, or the goroutine was told to wake, or a
// caller comes.
type applying struct {
	mu    sync.Mutex
	free  *sync.Cond // the turn was given back
	taken bool
	come  int          // callers that write the log, and visit then
	ready []*Entry     // in the order of the log, not yet taken; some may have failed
	spare []*Entry     // of the last take, for the next one
	out   atomic.Int64 // recorded, and neither applied nor failed

	wake    chan struct{} // 1 slot
	quit    chan struct{} // closed when nothing more can come
	stopped chan struct{} // closed when the goroutine has returned
}

// hand gives entries to whatever has the turn, or will have it.
func (t *applying) hand(es []*Entry) {
	t.mu.Lock()
	idle := !t.taken && t.come == 0 && len(t.ready) == 0
	t.ready = append(t.ready, es...)
	t.mu.Unlock()
	if idle {
		t.signal()
	}
}

func (t *applying) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// enter gives the turn to a caller; false when another goroutine has it.
func (t *applying) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		return false
	}
	t.taken = true
	return true
}

// leave gives the turn back, and wakes the goroutine for what is left.
func (t *applying) leave() {
	t.mu.Lock()
	t.taken = false
	more := len(t.ready) > 0
	t.mu.Unlock()
	t.free.Broadcast()
	if more {
		t.signal()
	}
}

// take gives what has the turn what is ready.
func (t *applying) take() []*Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	es := t.ready
	t.ready = t.spare
	t.spare = nil
	return es
}

// keep keeps the slice of those that are done.
func (t *applying) keep(es []*Entry) {
	clear(es)
	t.mu.Lock()
	t.spare = es[:0]
	t.mu.Unlock()
}

// Run is the goroutine of the machine: it applies what no caller does. It returns after End.
func (h *Host) Run() {
	t := &h.turn
	defer close(t.stopped)
	all := func() {
		for h.round() {
		}
	}
	for {
		select {
		case <-t.wake:
			if t.enter() {
				all()
				t.leave()
			}
		case <-t.quit:
			h.still(all)
			return
		}
	}
}

// round applies what is ready, for what has the turn; false when nothing is.
func (h *Host) round() bool {
	es := h.turn.take()
	for _, e := range es {
		if e.err == nil {
			h.apply(e.index, e.entry)
		}
		h.turn.out.Add(-1) // before the caller comes with the next one, and asks alone
		if e.done != nil {
			e.done(e.index, e.err)
		}
	}
	h.turn.keep(es)
	return len(es) > 0
}

// apply has the machine do one entry, for what has the turn.
func (h *Host) apply(index uint64, entry []byte) {
	h.machine.Apply(index, entry)
	h.applied = index
	n := int64(len(entry)) + 1 // with its type: an entry without bytes is one, too
	h.since += n
	h.total += n
}

// commit writes the log and applies what is ready inline, for a caller that has just appended. The
// goroutine is not woken for what the caller is about to apply.
func (hs Hosts) commit() {
	defer hs[0].env.Deadly()
	for _, h := range hs {
		h.turn.coming(1)
	}
	hs[0].env.Log.Commit()
	for _, h := range hs {
		h.turn.coming(-1)
	}
	hs.Visit()
}

// coming changes the number of callers that come.
func (t *applying) coming(n int) {
	t.mu.Lock()
	t.come += n
	t.mu.Unlock()
}

// visit applies what is ready inline, for a caller that waits for it, unless another goroutine is
// applying.
func (h *Host) visit() {
	defer h.env.Deadly()
	if h.turn.enter() {
		h.round()
		h.turn.leave()
	}
}

// still calls fn while nothing is applied.
func (h *Host) still(fn func()) {
	t := &h.turn
	t.mu.Lock()
	for t.taken {
		t.free.Wait()
	}
	t.taken = true
	t.mu.Unlock()
	fn()
	t.leave()
}

// Settle waits until all that was recorded has been applied or has failed.
func (h *Host) Settle() {
	t := &h.turn
	t.mu.Lock()
	for t.taken || t.out.Load() > 0 {
		t.free.Wait()
	}
	t.mu.Unlock()
}

// End returns when Run has told the last caller. The log is closed.
func (h *Host) End() {
	close(h.turn.quit)
	<-h.turn.stopped
}
