package shard

import (
	"slices"
	"sync/atomic"

	"fiveways/internal/core/failure"
)

// durable is how far a shard's entries are durable, and the functions that wait for more. On most
// shards none waits: that costs an atomic store and a load for each entry.
type durable struct {
	upTo    atomic.Uint64 // index of the last durable entry
	failed  atomic.Bool   // no further entry will be durable
	awaited atomic.Bool   // waiting is not empty
	waiting []awaitsEntry // owned by the shard; in the order of their indexes
	asked   uint64        // owned by the shard: a sync of the entries up to this index is on its way
}

// awaitsEntry is a function to call on the shard's goroutine when an entry is durable, or with an
// error when it never will be.
type awaitsEntry struct {
	index uint64
	fn    func(error)
}

// advance notes that the entries up to index are durable, or never will be. It runs on the
// goroutine that writes the log, or on the shard's.
func (sh *Shard) advance(index uint64, err error) {
	if err != nil {
		sh.durable.failed.Store(true)
	} else {
		sh.durable.raise(index)
	}
	if sh.durable.awaited.Load() {
		sh.Post(sh.tellDurable)
	}
}

func (d *durable) raise(index uint64) {
	for {
		was := d.upTo.Load()
		if index <= was || d.upTo.CompareAndSwap(was, index) {
			return
		}
	}
}

// whenDurable calls fn on the shard's goroutine when the entries up to index are durable: at once
// if they are, and no function waits before it.
func (sh *Shard) whenDurable(index uint64, fn func(error)) {
	d := &sh.durable
	d.awaited.Store(true) // before the look: an entry that becomes durable meanwhile sees it
	d.waiting = append(d.waiting, awaitsEntry{index, fn})
	switch {
	case index == sh.index:
		sh.entry.wait = max(sh.entry.wait, sh.set.Sync.Wait())
	case index > max(d.upTo.Load(), d.asked): // entries without a promise are written, but not synced
		d.asked = sh.index - 1
		upTo := d.asked
		sh.set.Log.Barrier([]uint32{sh.ID}, sh.set.Sync.Wait(), func(err error) { sh.advance(upTo, err) })
	}
	sh.tellDurable()
}

// tellDurable calls the functions whose entries are durable now.
func (sh *Shard) tellDurable() {
	d := &sh.durable
	for len(d.waiting) > 0 {
		var err error
		if d.failed.Load() {
			err = failure.ErrLogFailed
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

// lastRecorded returns the index of the newest entry that is not empty.
func (sh *Shard) lastRecorded() uint64 {
	if !sh.facts.Empty() {
		return sh.index
	}
	return sh.index - 1
}

// flushDurable is flush when messages of the list, or of an earlier one, have to be durable: the
// list waits until they are, behind those that wait already, so that the order of a queue stays.
func (o *outbox) flushDurable(sh *Shard) {
	if o.lastEntry <= sh.durable.upTo.Load() && o.pending == 0 {
		o.sink.Deliver(o.list)
		return
	}
	list, bytes := append([]Delivery(nil), o.list...), o.bytes
	o.pending++
	o.window.Add(bytes)
	sh.whenDurable(o.lastEntry, func(err error) {
		o.pending--
		if err == nil {
			list = slices.DeleteFunc(list, sh.lost)
		}
		if err == nil && len(list) > 0 {
			o.sink.Deliver(list)
		}
		o.window.Done(bytes)
	})
}

// lost reports whether the queue of a delivery that waited was deleted meanwhile. Nobody settles
// such a delivery, so its consumer gets its credit back.
func (sh *Shard) lost(d Delivery) bool {
	if d.Queue.gone && !d.Consumer.NoAck {
		sh.Post(func() { sh.giveBack(d.Consumer, 1) }) // later: this may be the end of a drain
	}
	return d.Queue.gone
}

// AwaitDurable returns when all recorded changes of the queue up to now are durable: what was read
// of it before is still true after a crash. Deliveries that waited for these changes have been
// made. Errors: ErrLogFailed, ErrClosed.
func (q *Queue) AwaitDurable() error {
	done := make(chan error, 1)
	sh := q.shard
	if err := sh.Call(func() { sh.whenDurable(sh.lastRecorded(), func(err error) { done <- err }) }); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-sh.Done:
		return failure.ErrClosed
	}
}
