package server

import (
	"cmp"
	"log/slog"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/firehose"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/protocol/pgwire"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
)

// machines are the state machines that a broker keeps in its log besides definitions and queues.
// They are filled when it opens.
type machines struct {
	keys *etcdServer // nil: off, on a single node; keys in the log are left alone
	sems *semaphores.Manager
}

func newMachines(cfg config.Config, log *slog.Logger) *machines {
	return &machines{keys: newEtcd(cfg, log), sems: semaphores.New(semaphores.Options{MaxBytes: cfg.MemoryLimit, Logger: log})}
}

func (m *machines) byShard() map[uint32]statemachine.Machine {
	all := map[uint32]statemachine.Machine{statemachine.Semaphores: m.sems}
	if m.keys != nil {
		all[statemachine.Keys] = keyspace.Hashed{Store: m.keys.keys}
	}
	return all
}

// kept returns approximately how many bytes they take.
func (m *machines) kept() int64 {
	n := m.sems.Bytes()
	if m.keys != nil {
		n += m.keys.keys.IndexBytes()
	}
	return n
}

// close closes them. Call it after closing the broker, which writes their checkpoints.
func (m *machines) close() error { return m.keys.close() }

// brokerOptions returns the options of this node's broker.
func (s *Server) brokerOptions(m *machines) broker.Options {
	return broker.Options{
		Sync: syncModes[s.cfg.Sync], BatchDelay: s.cfg.BatchDelay, Shards: s.cfg.Shards,
		MemoryLimit: s.cfg.MemoryLimit, DiskFreeLimit: cmp.Or(s.cfg.DiskFreeLimit, -1), Logger: s.log,
		Conditions: pgwire.Conditions(), Order: pgwire.OrderOf, StateMachines: m.byShard(), Policies: policies.Engine{},
		Traces: heard(s.traces), Tap: firehose.Of(s.cfg.NodeName),
	}
}
