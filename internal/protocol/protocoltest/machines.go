package protocoltest

import (
	"context"
	"log/slog"

	"fiveways/internal/broker/enginetest"
	"fiveways/internal/keyspace"
	"fiveways/internal/semaphores"
	"fiveways/internal/statemachine"
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
		all[statemachine.Keys] = enginetest.Machine{Machine: hashed{keys}, New: func() statemachine.Machine { return hashed{keyspace.New(keyspace.Options{})} }}
	}
	return all
}

// hashed has for a hash that of the keys and their revisions. Store.Hash also depends on how far a
// compaction has deleted what is compacted.
type hashed struct{ *keyspace.Store }

// Hash is 0 when the keys have none.
func (h hashed) Hash() uint64 {
	sum, _, err := h.HashKV(context.Background(), 0)
	if err != nil {
		return 0
	}
	return uint64(sum.Hash)<<32 ^ uint64(sum.Revision)<<1 ^ uint64(sum.CompactRevision)
}
