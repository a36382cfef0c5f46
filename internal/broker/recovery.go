package broker

import (
	"fmt"

	"fiveways/internal/broker/shard"
	"fiveways/internal/core/catalog"
	"fiveways/internal/statemachine"
)

// recover rebuilds the definitions, then each shard: first its checkpoint, then the log behind
// that. Unless the broker was closed cleanly, any message may have been delivered, so all are
// marked as redelivered.
func (b *Broker) recover() error {
	b.newDefinitions()
	last := uint32(b.opts.Shards)
	for _, id := range b.set.Store.Shards() {
		if !statemachine.Known(id) {
			last = max(last, id)
		}
	}
	b.set.Grow(int(last))
	if err := b.journal.Recover(b.set.Store); err != nil {
		return fmt.Errorf("broker: recover definitions: %w", shard.AsStoreError(err))
	}
	b.reportBroken()
	for _, v := range b.set.Catalog.VHosts() {
		v.Compile()
	}
	b.set.Catalog.Queues(func(def *catalog.Queue) {
		q := shard.QueueOf(def)
		q.Rule(q.Ruled())
		q.Home().Register(q)
	})
	for _, sh := range b.set.All {
		if err := sh.Recover(); err != nil {
			return fmt.Errorf("broker: recover shard %d: %w", sh.ID, err)
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
	for _, v := range b.set.Catalog.VHosts() {
		for binding := range v.Table().Bindings() {
			if err := binding.Broken(); err != nil {
				b.log.Error("the condition of a binding cannot be used: it matches nothing", "vhost", v.Name,
					"exchange", binding.Source, "key", binding.Key, "err", err)
			}
		}
	}
}
