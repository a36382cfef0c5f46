package broker

import (
	"fmt"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/statemachine"
)

// restore loads the state from the log: first the definitions, then each shard and each state
// machine, from its checkpoint and the entries after it. From then on the broker follows.
func (b *Broker) restore() error {
	b.following = true
	b.newDefinitions()
	last := uint32(b.opts.Shards)
	for _, id := range b.set.Store.Shards() {
		if !statemachine.Known(id) {
			last = max(last, id)
		}
	}
	b.set.Grow(int(last))
	if err := b.journal.Recover(b.set.Store); err != nil {
		return fmt.Errorf("broker: recover definitions: %w", shardlog.AsStoreError(err))
	}
	for _, sh := range b.set.All {
		if err := sh.Restore(); err != nil {
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

// begin ends following and makes the restored state ready for use.
func (b *Broker) begin() {
	b.following = false
	b.reportBroken()
	for _, v := range b.set.Catalog.VHosts() {
		v.Compile()
	}
	b.set.Catalog.Queues(func(def *catalog.Queue) {
		q := shard.QueueOf(def)
		q.Rule(q.Ruled())
	})
	for _, sh := range b.set.All {
		sh.Begin()
	}
}

// recover restores the state that the broker had when it ended, and begins.
func (b *Broker) recover() error {
	if err := b.restore(); err != nil {
		return err
	}
	b.begin()
	return nil
}

// reportBroken logs the bindings that match nothing since this start.
func (b *Broker) reportBroken() {
	for _, v := range b.set.Catalog.VHosts() {
		for binding := range v.Table().Bindings() {
			if err := binding.Broken(); err != nil {
				b.log.Error("the condition of a binding is invalid; the binding matches nothing", "vhost", v.Name,
					"exchange", binding.Source, "key", binding.Key, "err", err)
			}
		}
	}
}
