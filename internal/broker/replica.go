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

// Replica is the engine of a node that follows: it applies another node's entries to its own copy
// of the durable state, and becomes a broker when the node leads. One goroutine at a time may use
// it.
type Replica struct {
	b       *Broker
	applied int         // bytes since the queues were last packed
	due     *checkpoint // that is being captured
}

// checkpoint is the state of the parts that are due for a checkpoint.
type checkpoint struct {
	shards   []*shard.Shard
	frozen   []*shard.Frozen // of each shard
	machines []*statemachine.Host
}

// OpenReplica restores the committed state from a store. The caller keeps the store open until
// after Abandon. Errors: those of Open, except those of opening the store.
func OpenReplica(st *store.Store, fs vfs.FS, dir string, o Options) (*Replica, error) {
	b := newBroker(o.withDefaults(), st, fs, dir)
	if err := b.restore(); err != nil {
		return nil, err
	}
	r := &Replica{b: b}
	r.pack()
	return r, nil
}

// Apply makes the changes of a committed batch. Entries that are already applied change nothing.
// Errors: shardlog.AsStoreError; the replica cannot be used afterwards.
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

// packBytes is the number of applied bytes after which the queues are packed again.
const packBytes = 16 << 20

// pack makes the queues keep only their shares of memory.
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
		return shardlog.AsStoreError(b.journal.Apply(e.Index, e.Data))
	case statemachine.Known(e.Shard):
		if h := b.machines.Of(e.Shard); h != nil {
			return h.Apply(e.Index, e.Data)
		}
		return nil
	}
	b.set.Grow(int(e.Shard))
	return b.set.All[e.Shard-1].ApplyEntry(e.Index, e.Data)
}

// Hash equals Broker.Hash of a broker with the same durable state.
func (r *Replica) Hash() (sum uint64) {
	sum, _ = r.b.Hash() // a replica that leads has a broker, which may be closed
	return sum
}

// Sum returns what Broker.Sum reports for a part of the same durable state. ok is false if the part
// is not at that place, or does not exist.
func (r *Replica) Sum(part uint32, at Place) (sum uint64, ok bool) {
	err := r.b.Sum(part, none, func(here uint64, now Place) { sum, ok = here, now == at })
	return sum, ok && err == nil
}

// Checkpoint captures the state of the parts that have applied enough bytes since their last
// checkpoint. Call it again while it returns nil: it captures a few queues at a time. write then
// stores the state, possibly while Apply continues, and frees what the log no longer needs.
func (r *Replica) Checkpoint(enough int64) (write func() error) {
	if r.due == nil {
		r.due = r.b.dueCheckpoint(enough)
	}
	due := r.due
	if due == nil || slices.ContainsFunc(due.frozen, func(f *shard.Frozen) bool { return f.State.Copy() }) {
		return nil
	}
	r.due = nil
	return func() error { return r.b.writeDue(due) }
}

// dueCheckpoint begins to capture the state of the parts that are due, if any, or if the
// definitions are.
func (b *Broker) dueCheckpoint(enough int64) *checkpoint {
	var due checkpoint
	for _, sh := range b.set.All {
		if f := sh.FreezeLogged(enough); f != nil {
			due.shards, due.frozen = append(due.shards, sh), append(due.frozen, f)
		}
	}
	due.machines = slices.DeleteFunc(slices.Clone(b.machines), func(h *statemachine.Host) bool { return !h.Due(enough) })
	if _, logged := b.journal.Logged(); len(due.shards)+len(due.machines) == 0 && logged < enough {
		return nil
	}
	return &due
}

func (b *Broker) writeDue(due *checkpoint) error {
	b.checkpointing.Lock() // it may lead by now
	defer b.checkpointing.Unlock()
	for i, sh := range due.shards {
		if err := b.writeCheckpoint(sh, due.frozen[i]); err != nil {
			return err
		}
	}
	for _, h := range due.machines {
		if err := h.WriteCheckpoint(); err != nil {
			return err
		}
	}
	return errors.Join(b.journal.Checkpoint(b.set.Store), b.set.Store.Forget())
}

// Lead turns the replica into a broker, which appends to a log from now on. The replica must not be
// used afterwards. Errors: those of the scratch log.
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

// Abandon ends a broker that no longer leads. It records nothing and writes no checkpoint, because
// its state may be ahead of the committed entries. The log must have ended, and the sessions must
// be closed. The store stays open.
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

// openScratch opens an empty log for bodies that do not fit in memory.
func (b *Broker) openScratch() (*store.Store, error) {
	return store.Open(b.fs, filepath.Join(b.dir, "scratch"), store.Options{
		Scratch: true, SegmentBytes: b.opts.SegmentBytes, Logger: b.opts.Logger,
	})
}
