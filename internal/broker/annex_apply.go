package broker

import (
	"sync"
	"sync/atomic"
)

// applying says who applies entries to the annex: its goroutine, or for a while a caller who waits for one of them anyway, as with shards (visit.go).
//
// Invariant: while something is ready, somebody has the turn, or the goroutine was told to wake.
type applying struct {
	mu    sync.Mutex
	free  *sync.Cond // the turn was given back
	taken bool
	ready []*record    // in the order of the log, not yet taken; some may have failed
	spare []*record    // of the last who took, for the next one
	out   atomic.Int64 // recorded, and neither applied nor failed

	wake    chan struct{} // 1 slot
	quit    chan struct{} // closed when nothing more can come
	stopped chan struct{} // closed when the goroutine has returned
}

// hand gives records to whoever has the turn, or will have it.
func (t *applying) hand(rs []*record) {
	t.mu.Lock()
	idle := !t.taken && len(t.ready) == 0
	t.ready = append(t.ready, rs...)
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

// enter gives the turn to a caller who leaves at once when somebody else has it.
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

// take gives who has the turn what is ready.
func (t *applying) take() []*record {
	t.mu.Lock()
	defer t.mu.Unlock()
	rs := t.ready
	t.ready = t.spare
	t.spare = nil
	return rs
}

// keep keeps the slice of those who were told.
func (t *applying) keep(rs []*record) {
	clear(rs)
	t.mu.Lock()
	t.spare = rs[:0]
	t.mu.Unlock()
}

// run is the goroutine of the annex: it applies what no caller does.
func (a *annex) run() {
	t := &a.turn
	defer close(t.stopped)
	all := func() {
		for a.round() {
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
			a.still(all)
			return
		}
	}
}

// round applies what is ready, for who has the turn; false when nothing is.
func (a *annex) round() bool {
	rs := a.turn.take()
	for _, r := range rs {
		if r.err == nil {
			a.apply(r.index, r.entry)
		}
		a.turn.out.Add(-1) // before the caller comes with the next one, and looks whether he is alone
		if r.done != nil {
			r.done(r.index, r.err)
		}
	}
	a.turn.keep(rs)
	return len(rs) > 0
}

// apply has the annex do one entry, for who has the turn.
func (a *annex) apply(index uint64, entry []byte) {
	a.machine.Apply(index, entry)
	a.applied = index
	n := int64(len(entry)) + 1 // with its type: an entry without bytes is one, too
	a.since += n
	a.total += n
}

// visit applies what is ready on the goroutine of a caller who waits for it, unless somebody is at it.
func (a *annex) visit() {
	defer deadly()
	if a.turn.enter() {
		a.round()
		a.turn.leave()
	}
}

// still calls fn while nothing is applied.
func (a *annex) still(fn func()) {
	t := &a.turn
	t.mu.Lock()
	for t.taken {
		t.free.Wait()
	}
	t.taken = true
	t.mu.Unlock()
	fn()
	t.leave()
}

// settle waits until all that was recorded has been applied or has failed.
func (a *annex) settle() {
	t := &a.turn
	t.mu.Lock()
	for t.taken || t.out.Load() > 0 {
		t.free.Wait()
	}
	t.mu.Unlock()
}

// end returns when the goroutine has told the last caller. The log is closed.
func (a *annex) end() {
	close(a.turn.quit)
	<-a.turn.stopped
}
