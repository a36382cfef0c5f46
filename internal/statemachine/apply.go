package statemachine

import (
	"sync"
	"sync/atomic"
)

// applying coordinates the goroutines that apply entries to the machine: its own, or inline that of
// a caller that waits for one of them. The one that applies holds the turn.
//
// Invariant: while entries are ready, the turn is taken, or the goroutine has been signaled, or a
// caller will visit.
type applying struct {
	mu    sync.Mutex
	free  *sync.Cond // signaled when the turn is released
	taken bool
	come  int          // number of callers that are writing the log and will visit
	ready []*Entry     // in log order, not taken yet; some may have failed
	spare []*Entry     // slice of the last take, for reuse
	out   atomic.Int64 // recorded entries that have neither been applied nor failed

	wake    chan struct{} // capacity 1
	quit    chan struct{} // closed when no further entries can come
	stopped chan struct{} // closed when the goroutine has returned
}

// hand passes entries to the current or next holder of the turn.
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

// enter takes the turn for a caller. It returns false if another goroutine has it.
func (t *applying) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		return false
	}
	t.taken = true
	return true
}

// leave releases the turn, and wakes the goroutine if entries are left.
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

// take returns the ready entries. The caller has the turn.
func (t *applying) take() []*Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	es := t.ready
	t.ready = t.spare
	t.spare = nil
	return es
}

// keep keeps the slice of applied entries for reuse.
func (t *applying) keep(es []*Entry) {
	clear(es)
	t.mu.Lock()
	t.spare = es[:0]
	t.mu.Unlock()
}

// Run is the goroutine of the machine: it applies the entries that no caller applies. It returns
// after End.
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

// round applies the ready entries. It returns false if there are none. The caller has the turn.
func (h *Host) round() bool {
	es := h.turn.take()
	for _, e := range es {
		if e.err == nil {
			h.apply(e.index, e.entry)
		}
		h.turn.out.Add(-1) // before the caller records its next entry and checks alone
		if e.done != nil {
			e.done(e.index, e.err)
		}
	}
	h.turn.keep(es)
	return len(es) > 0
}

// apply applies one entry. The caller has the turn.
func (h *Host) apply(index uint64, entry []byte) {
	h.machine.Apply(index, entry)
	h.applied = index
	n := int64(len(entry)) + 1 // with the type byte, so that an empty entry counts, too
	h.since += n
	h.total += n
}

// commit writes the log and applies the ready entries inline, for a caller that has just appended.
// The goroutine is not woken for entries that the caller will apply.
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

// coming changes the number of callers that will visit.
func (t *applying) coming(n int) {
	t.mu.Lock()
	t.come += n
	t.mu.Unlock()
}

// visit applies the ready entries inline, for a caller that waits for them, unless another
// goroutine is applying.
func (h *Host) visit() {
	defer h.env.Deadly()
	if h.turn.enter() {
		h.round()
		h.turn.leave()
	}
}

// still calls fn while nothing is being applied.
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

// Settle waits until everything recorded has been applied or has failed.
func (h *Host) Settle() {
	t := &h.turn
	t.mu.Lock()
	for t.taken || t.out.Load() > 0 {
		t.free.Wait()
	}
	t.mu.Unlock()
}

// End returns when Run has notified the last caller. The log must be closed.
func (h *Host) End() {
	close(h.turn.quit)
	<-h.turn.stopped
}
