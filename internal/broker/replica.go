package broker

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/definitions"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Replica is the engine of a node that follows: it has the durable state of another node's broker,
// entry by entry, and becomes a broker when it leads. Its methods are for one goroutine.
type Replica struct {
	b       *Broker
	applied int // bytes since the queues were last packed
}

// OpenReplica restores the state from a store, as far as it is committed there. The caller keeps
// the store open until after Abandon. Errors: those of Open, without those of the store's opening.
func OpenReplica(st *store.Store, fs vfs.FS, dir string, o Options) (*Replica, error) {
	b := newBroker(o.withDefaults(), fs, dir)
	b.newSet(st, nil, nil)
	b.machines = newMachines(b)
	if err := b.restore(); err != nil {
		return nil, err
	}
	r := &Replica{b: b}
	r.pack()
	return r, nil
}

// Apply makes the changes of a batch that is committed. What was applied before changes nothing.
// Errors: shard.AsStoreError; the replica cannot be used after one.
func (r *Replica) Apply(batch []store.Entry) error {
	for i := range batch {
		e := &batch[i]
		if err := r.apply(e); err != nil {
			return fmt.Errorf("broker: apply entry %d of %s: %w", e.Index, statemachine.ShardName(e.Shard), err)
		}
		r.applied += len(e.Data)
	}
	if int64(r.applied) >= min(packBytes, r.b.opts.MemoryLimit/8) {
		r.pack()
	}
	return nil
}

// packBytes is how much is applied before the queues are packed again.
const packBytes = 16 << 20

// pack has the queues keep only their shares of memory.
func (r *Replica) pack() {
	r.applied = 0
	for _, sh := range r.b.set.All {
		sh.Pack()
	}
}

func (r *Replica) apply(e *store.Entry) error {
	b := r.b
	switch {
	case e.Shard == definitions.Shard:
		return shard.AsStoreError(b.journal.Apply(e.Index, e.Data))
	case statemachine.Known(e.Shard):
		if h := b.machines.Of(e.Shard); h != nil {
			return h.Apply(e.Index, e.Data)
		}
		return nil
	}
	b.set.Grow(int(e.Shard))
	return b.set.All[e.Shard-1].ApplyEntry(e.Index, e.Data)
}

// Hash is that of a broker (Broker.Hash) with the same durable state.
func (r *Replica) Hash() (sum uint64) {
	sum, _ = r.b.Hash() // that of a broker that leads may be closed
	return sum
}

// Sum is that of a part of a broker (Broker.Sum) with the same durable state; ok is false when the
// part is not at that place, or there is no such part.
func (r *Replica) Sum(part uint32, at Place) (sum uint64, ok bool) {
	err := r.b.Sum(part, none, func(here uint64, now Place) { sum, ok = here, now == at })
	return sum, ok && err == nil
}

// Checkpoint takes hold of what was applied since the last checkpoints, where that is enough bytes.
// write writes it, beside further calls of Apply, and frees what the log does not need any more;
// nil: nothing is due.
func (r *Replica) Checkpoint(enough int64) (write func() error) {
	b := r.b
	var due []*shard.Shard
	var frozen []*shard.Frozen
	for _, sh := range b.set.All {
		if f := sh.FreezeLogged(enough); f != nil {
			due, frozen = append(due, sh), append(frozen, f)
		}
	}
	machines := slices.DeleteFunc(slices.Clone(b.machines), func(h *statemachine.Host) bool { return !h.Due(enough) })
	_, logged := b.journal.Logged()
	if len(due)+len(machines) == 0 && logged < enough {
		return nil
	}
	return func() error {
		b.checkpointing.Lock() // it may lead by now
		defer b.checkpointing.Unlock()
		for i, sh := range due {
			if err := b.writeCheckpoint(sh, frozen[i]); err != nil {
				return err
			}
		}
		for _, h := range machines {
			if err := h.WriteCheckpoint(); err != nil {
				return err
			}
		}
		return errors.Join(b.journal.Checkpoint(b.set.Store), b.set.Store.Forget())
	}
}

// Lead makes the replica a broker, which appends to a log from now on. The replica is not used any
// more. Errors: those of the scratch log.
func (r *Replica) Lead(log shardlog.Log) (*Broker, error) {
	b := r.b
	scratch, err := b.openScratch()
	if err != nil {
		return nil, err
	}
	b.set.Lead(log, scratch)
	b.journal.Lead(log)
	b.machines.Lead(log)
	b.begin()
	b.start()
	return b, nil
}

// Abandon ends a broker that does not lead any more. It records nothing and writes no checkpoint:
// what its state has beyond the committed entries is of no use. The log has ended by then, and the
// sessions are closed. The store stays open.
func (b *Broker) Abandon() error {
	b.closeOnce.Do(func() {
		b.closed = failure.ErrClosed
		b.halt()
		err := b.set.Scratch.Close()
		b.join()
		b.closed = err
	})
	return b.closed
}

// openScratch opens the log for bodies that memory has no room for, which is empty.
func (b *Broker) openScratch() (*store.Store, error) {
	return store.Open(b.fs, filepath.Join(b.dir, "scratch"), store.Options{
		Scratch: true, SegmentBytes: b.opts.SegmentBytes, Logger: b.opts.Logger,
	})
}
