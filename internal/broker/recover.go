package broker

import (
	"errors"
	"fmt"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/statemachine"
	"fiveways/internal/storage/store"
)

// recover rebuilds the definitions, then each shard: first its checkpoint, then the log behind
// that. Unless the broker was closed cleanly, any message may have been delivered, so all are
// marked as redelivered.
func (b *Broker) recover() error {
	b.newDefinitions()
	last := uint32(b.opts.Shards)
	for _, id := range b.store.Shards() {
		if !statemachine.Known(id) {
			last = max(last, id)
		}
	}
	for id := uint32(1); id <= last; id++ {
		b.shards = append(b.shards, newShard(b, id))
	}
	if err := b.journal.Recover(b.store); err != nil {
		return fmt.Errorf("broker: recover definitions: %w", asStoreError(err))
	}
	b.reportBroken()
	for _, v := range b.catalog.VHosts() {
		v.Compile()
	}
	b.catalog.Queues(func(def *catalog.Queue) {
		q := queueOf(def)
		q.rule(q.Ruled())
		q.shard.register(q)
	})
	for _, sh := range b.shards {
		if err := sh.recover(); err != nil {
			return fmt.Errorf("broker: recover shard %d: %w", sh.id, err)
		}
	}
	for _, h := range b.machines {
		if err := h.Recover(); err != nil {
			return fmt.Errorf("broker: recover %s: %w", statemachine.ShardName(h.Shard()), err)
		}
	}
	return nil
}

// reportBroken names the bindings that match nothing since this start.
func (b *Broker) reportBroken() {
	for _, v := range b.catalog.VHosts() {
		for binding := range v.Table().Bindings() {
			if err := binding.Broken(); err != nil {
				b.log.Error("the condition of a binding cannot be used: it matches nothing", "vhost", v.Name,
					"exchange", binding.Source, "key", binding.Key, "err", err)
			}
		}
	}
}

// recover rebuilds the shard's queues.
func (sh *shard) recover() error {
	clean := false
	r, after, err := sh.b.store.Checkpoint(sh.id)
	if err != nil {
		return err
	}
	if r != nil {
		clean, err = sh.machine.Restore(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("checkpoint at %d: %w", after, asStoreError(err))
		}
	}
	err = sh.b.store.Replay(sh.id, after, func(index uint64, sub uint32, fact []byte) error {
		clean = false
		sh.logged.add(len(fact))
		return sh.machine.Apply(index, sub, fact)
	})
	if err != nil {
		return asStoreError(err)
	}
	sh.index = sh.b.store.Last(sh.id) + 1
	sh.durable.upTo.Store(sh.index - 1)
	sh.facts.Begin(sh.index, nil)
	for _, q := range sh.queues {
		if !clean {
			q.state.MarkAllRedelivered()
		}
		if q.Policy().AtLeastOnce || q.content.Jobs != nil || q.state.Scheduled() > 0 { // a policy may have asked for it when they died
			sh.recoverDead(q)
		}
		sh.mark(q)
	}
	for _, o := range sh.orders {
		sh.recallOrder(o)
	}
	sh.recoverLeases()
	// From here on the checkpoint of a clean close does not cover deliveries.
	sh.facts.Start()
	sh.entry.wait = sh.b.opts.Sync.Wait()
	return nil
}

// logBodies counts references to bodies in the log while a shard recovers.
type logBodies struct{ sh *shard }

func (l logBodies) Retain(index uint64, n int)  { l.sh.b.store.Retain(l.sh.id, index, n) }
func (l logBodies) Release(index uint64, n int) { l.sh.b.store.Release(l.sh.id, index, n) }

// asStoreError wraps an error of the state machine in the one that the store has for it.
func asStoreError(err error) error {
	switch {
	case errors.Is(err, shardstate.ErrUnsupported):
		return fmt.Errorf("%w: %w", store.ErrUnsupportedFormat, err)
	case errors.Is(err, shardstate.ErrMalformed):
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return err
}

// freeze copies what a checkpoint needs, so that the shard can go on while it is written.
func (sh *shard) freeze(clean bool) *frozenShard {
	return &frozenShard{sh.index - 1, sh.machine.Freeze(clean, func(q *shardstate.Queue) int { return sh.heldDead(q.ID) })}
}

// frozenShard is the state of a shard at one index.
type frozenShard struct {
	index uint64
	state *shardstate.Frozen
}
