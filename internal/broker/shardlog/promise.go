package shardlog

import "sync/atomic"

// Promised is the owner of a promise. Tell gets nil when the promise is kept, or the error that
// broke it.
type Promised interface{ Tell(error) }

// Promise waits until all changes between Begin and End are durable, in any number of entries. It
// can be reused after it has called Tell.
type Promise struct {
	to      Promised
	index   uint64 // of the last entry that it joined
	open    atomic.Int32
	failed  atomic.Pointer[error]
	release func(error) // kept, bound once
}

// Begin starts the promise. Its outcome goes to to.
func (p *Promise) Begin(to Promised) {
	p.to, p.index = to, 0
	p.failed.Store(nil)
	p.open.Store(1)
	if p.release == nil {
		p.release = p.finish
	}
}

// Join makes the promise wait for the current entry.
func (p *Promise) Join(w *Writer) {
	if p.index != w.index {
		p.index = w.index
		p.open.Add(1)
		w.WhenRecorded(p.release)
	}
}

// End ends the promise: to hears of it once everything is durable.
func (p *Promise) End() { p.finish(nil) }

func (p *Promise) finish(err error) {
	if err != nil {
		p.failed.Store(&err)
	}
	if p.open.Add(-1) > 0 {
		return
	}
	if f := p.failed.Load(); f != nil {
		err = *f
	}
	p.to.Tell(err)
}
