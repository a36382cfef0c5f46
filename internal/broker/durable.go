package broker

import "sync/atomic"

// durable is how far a shard's entries are durable, and what waits for more. Most shards have nobody
// who does: for them it costs an atomic store and a load for each entry.
type durable struct {
	upTo    atomic.Uint64 // index of the last entry
	failed  atomic.Bool   // no further one will be
	awaited atomic.Bool   // waiting is not empty
	waiting []awaitsEntry // the shard's; in the order of their indexes
}

// awaitsEntry is something to do on the shard's goroutine when an entry is durable, or with an
// error never will be.
type awaitsEntry struct {
	index uint64
	fn    func(error)
}

// advance notes that an entry is durable, or never will be. It runs on the goroutine that writes
// the log.
func (sh *shard) advance(index uint64, err error) {
	if err != nil {
		sh.durable.failed.Store(true)
	} else {
		sh.durable.upTo.Store(index)
	}
	if sh.durable.awaited.Load() {
		sh.post(sh.tellDurable)
	}
}

// whenDurable calls fn on the shard's goroutine when the entries up to index are durable: now, if
// they are and nobody is before it.
func (sh *shard) whenDurable(index uint64, fn func(error)) {
	d := &sh.durable
	d.awaited.Store(true) // before the look: an entry that becomes durable meanwhile sees it
	d.waiting = append(d.waiting, awaitsEntry{index, fn})
	if index == sh.index {
		sh.entry.wait = max(sh.entry.wait, sh.b.opts.Sync.Wait())
	}
	sh.tellDurable()
}

// tellDurable does what waited for entries that are durable now.
func (sh *shard) tellDurable() {
	d := &sh.durable
	for len(d.waiting) > 0 {
		var err error
		if d.failed.Load() {
			err = ErrLogFailed
		} else if d.waiting[0].index > d.upTo.Load() {
			return
		}
		first := d.waiting[0]
		d.waiting[0] = awaitsEntry{}
		d.waiting = d.waiting[1:]
		first.fn(err)
	}
	d.waiting = nil
	d.awaited.Store(false)
}

// lastRecorded is the index of the newest entry with something in it.
func (sh *shard) lastRecorded() uint64 {
	if len(sh.entry.data) > 0 || len(sh.entry.settled) > 0 {
		return sh.index
	}
	return sh.index - 1
}

// flushLate hands a session that wants durable messages only what was gathered for it: when they
// are, behind what waits already.
func (o *outbox) flushLate(sh *shard) {
	if o.lastEntry <= sh.durable.upTo.Load() && o.pending == 0 {
		o.sink.Deliver(o.list)
		return
	}
	list := append([]Delivery(nil), o.list...)
	o.pending++
	sh.whenDurable(o.lastEntry, func(err error) {
		o.pending--
		if err != nil || list[0].Queue.gone {
			return
		}
		o.sink.Deliver(list)
	})
}

// AwaitDurable waits until all that is recorded of a queue by now is durable: what was seen of it
// is true after a crash, too. Deliveries that waited for that have been made. Errors: ErrLogFailed,
// ErrClosed.
func (q *Queue) AwaitDurable() error {
	done := make(chan error, 1)
	sh := q.shard
	if err := sh.call(func() { sh.whenDurable(sh.lastRecorded(), func(err error) { done <- err }) }); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-sh.done:
		return ErrClosed
	}
}
