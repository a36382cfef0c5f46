package shard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Restore loads the state of the shard's queues from the log. The queues must be known by then.
func (sh *Shard) Restore() error {
	r, after, err := sh.set.Store.Checkpoint(sh.ID)
	if err != nil {
		return err
	}
	if r != nil {
		sh.clean, err = sh.machine.Restore(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("checkpoint at %d: %w", after, shardlog.AsStoreError(err))
		}
	}
	sh.log.Recovered(max(after, sh.set.Store.ReplayEnd(sh.ID)))
	return shardlog.AsStoreError(sh.set.Store.Replay(sh.ID, after, sh.replay))
}

// ApplyEntry makes the changes of an entry that another node has recorded. An entry that is already
// applied changes nothing.
func (sh *Shard) ApplyEntry(index uint64, entry []byte) error {
	if index <= sh.log.Index()-1 {
		return nil
	}
	sh.log.Recovered(index)
	return shardlog.AsStoreError(store.EachFact(entry, func(sub uint32, fact []byte) error { return sh.replay(index, sub, fact) }))
}

// replay makes the change that a durable fact records.
func (sh *Shard) replay(index uint64, sub uint32, fact []byte) error {
	sh.clean = false
	sh.log.Replayed(index, fact)
	return sh.machine.Apply(index, sub, fact)
}

// Begin makes the restored queues ready for use, before the shard runs. Unless the last process
// ended cleanly, any message may have been delivered.
func (sh *Shard) Begin() {
	for _, q := range sh.queues {
		sh.enter(q)
		if !sh.clean {
			q.state.MarkAllRedelivered()
		}
		if q.Policy().AtLeastOnce || q.content.Jobs != nil || q.state.Scheduled() > 0 { // a policy may have requested it when they died
			sh.recoverDead(q)
		}
		q.overfull = true
		sh.mark(q)
	}
	for _, o := range sh.orders {
		sh.recallOrder(o)
	}
	sh.recoverLeases()
	// From here on the checkpoint of a clean shutdown does not cover deliveries.
	sh.facts.Start()
	sh.log.MustSync()
}

// logBodies counts references to bodies in the log while a shard recovers.
type logBodies struct{ sh *Shard }

func (l logBodies) Retain(index uint64, n int)  { l.sh.set.Store.Retain(l.sh.ID, index, n) }
func (l logBodies) Release(index uint64, n int) { l.sh.set.Store.Release(l.sh.ID, index, n) }

// Freeze begins a copy of the state for a checkpoint; see shardstate.Machine.Freeze.
func (sh *Shard) Freeze(clean bool) *Frozen {
	return &Frozen{sh.log.Index() - 1, sh.machine.Freeze(clean, func(q *shardstate.Queue) int { return sh.heldDead(q.ID) })}
}

// FreezeIfDue copies the state, while the shard continues, if the shard has logged at least this
// many bytes since its last checkpoint. It returns nil otherwise, or if the shard has stopped.
func (sh *Shard) FreezeIfDue(bytes int64) (f *Frozen) {
	if err := sh.Call(func() { f = sh.FreezeLogged(bytes) }); err != nil || f == nil || f.State.Complete(sh.Call) != nil {
		return nil
	}
	return f
}

// FreezeLogged is Freeze if the shard has logged at least this many bytes since its last
// checkpoint. Otherwise it returns nil.
func (sh *Shard) FreezeLogged(bytes int64) (f *Frozen) {
	if sh.log.SinceCheckpoint() >= bytes {
		sh.log.Propose() // the checkpoint's index must cover all facts applied to the state
		f = sh.Freeze(false)
		sh.log.Checkpointed()
	}
	return f
}

// Live returns the positions from lo to hi of the bodies that the queues still need, sorted and
// unique. Errors: ErrClosed.
func (sh *Shard) Live(lo, hi uint64) (live []store.Pos, err error) {
	err = sh.Call(func() {
		sh.log.Propose() // the facts that made the other bodies obsolete must be in the log before these are deleted
		sh.machine.Each(func(q *shardstate.Queue) {
			q.State.Live(lo, hi, func(index uint64, sub uint32) {
				live = append(live, store.Pos{Shard: sh.ID, Index: index, Sub: sub})
			})
		})
	})
	slices.SortFunc(live, func(a, b store.Pos) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Sub, b.Sub))
	})
	return slices.Compact(live), err
}

// Frozen is the state of a shard at one index.
type Frozen struct {
	Index uint64
	State *shardstate.Frozen
}
