package shardlog

import "sync/atomic"

// Promised is told when a promise is kept, or with an error that it will not be.
type Promised interface{ Tell(error) }

// Promise waits until all changes between begin and end are durable, in any number of entries. It
// can be used again after it has called Tell.
type Promise struct {
	to      Promised
	index   uint64 // of the entry that it joined last
	open    atomic.Int32
	failed  atomic.Pointer[error]
	release func(error) // kept, bound once
}

// Begin begins it, for to.
func (p *Promise) Begin(to Promised) {
	p.to, p.index = to, 0
	p.failed.Store(nil)
	p.open.Store(1)
	if p.release == nil {
		p.release = p.finish
	}
}

// Join has the promise wait for the current entry.
func (p *Promise) Join(w *Writer) {
	if p.index != w.index {
		p.index = w.index
		p.open.Add(1)
		w.WhenRecorded(p.release)
	}
}

// End ends it: to is told when all is durable.
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
