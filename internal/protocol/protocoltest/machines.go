package protocoltest

import (
	"log/slog"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
)

// Machines are the state machines of a broker that enginetest opens; each may be nil.
func Machines(sems *semaphores.Manager, keys *keyspace.Store) map[uint32]statemachine.Machine {
	all := map[uint32]statemachine.Machine{}
	if sems != nil {
		all[statemachine.Semaphores] = enginetest.Machine{Machine: sems, New: func() statemachine.Machine {
			return semaphores.New(semaphores.Options{Logger: slog.New(slog.DiscardHandler)})
		}}
	}
	if keys != nil {
		all[statemachine.Keys] = enginetest.Machine{Machine: keyspace.Hashed{Store: keys}, New: func() statemachine.Machine { return keyspace.Hashed{Store: keyspace.New(keyspace.Options{})} }}
	}
	return all
}
