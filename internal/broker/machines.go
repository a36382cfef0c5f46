package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/statemachine"
)

// newMachines creates the hosts of the state machines.
func newMachines(b *Broker) statemachine.Hosts {
	return statemachine.New(&statemachine.Env{
		Log: b.set.Log, Store: b.set.Store, Sync: b.opts.Sync, Logger: b.log, Stop: b.stop, Await: b.set.Flow.Await, Relieve: b.set.Flow.Relieve, Deadly: shard.Deadly,
	}, b.opts.StateMachines)
}

// StateMachine returns the host of the state machine with a number, or nil. A nil host accepts no
// entries.
func (b *Broker) StateMachine(shard uint32) *statemachine.Host { return b.machines.Of(shard) }

// awaitMachines returns once no checkpoint of a state machine is being written.
func (b *Broker) awaitMachines() {
	for _, h := range b.machines {
		h.AwaitCheckpoint()
	}
}
