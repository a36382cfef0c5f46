// Package cluster makes the engine of a node the state machine of its replica. While another node
// leads, the engine applies what is committed. While this node leads, the engine is a broker.
//
// # Changes of leadership
//
// The replica reports changes of leadership on its own goroutine, which must not block. Slow work
// (preparing the queues, ending the broker, restoring the committed state) runs on other
// goroutines, one change at a time. Nothing is applied between the end of a leadership and the end
// of the restoring.
package cluster

import (
	"cmp"
	"errors"
	"log/slog"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Options configures an Engine.
type Options struct {
	Store *store.Store // of a replica, open
	FS    vfs.FS
	Dir   string // of Store
	// Broker returns the options of the next engine, with empty state machines. Those of the
	// previous engine are no longer used.
	Broker func() broker.Options
	// Lead gets the broker when this node begins to lead, and the lease. Without a valid lease
	// nothing that the broker knows may go to clients. If Lead returns an error the engine fails,
	// unless the leadership has been lost by then. Lose is called when the leadership is lost; all
	// sessions must be closed when it returns. Lead and Lose are called one at a time, on any
	// goroutine, and Lose once for every call of Lead.
	Lead func(*broker.Broker, protocol.Lease) error
	Lose func()
	// Fail is called once if the engine can neither follow nor lead. The node must then be
	// restarted or replaced.
	Fail func(error)
	// CheckpointBytes is how much a shard of a follower logs between two checkpoints. The default
	// is 128 MiB.
	CheckpointBytes int64
	Logger          *slog.Logger
}

// Engine is the engine of a node. It implements replica.Machine.
type Engine struct {
	o Options

	changing sync.Mutex // held during a change of leadership
	closed   bool       // guarded by changing

	mu      sync.Mutex
	replica *broker.Replica // the follower; nil while this node leads, and after a failure
	broker  *broker.Broker  // the leader's broker; changes only with changing held, too
	failed  bool
	writing bool // a checkpoint is being written
	writers sync.WaitGroup
}

var _ replica.Machine = (*Engine)(nil)

// NewEngine restores the committed state from the store. Errors: those of broker.OpenReplica.
func NewEngine(o Options) (*Engine, error) {
	o.CheckpointBytes = cmp.Or(o.CheckpointBytes, 128<<20)
	e := &Engine{o: o}
	if err := e.restore(); err != nil {
		return nil, err
	}
	return e, nil
}

// restore makes the engine a follower.
func (e *Engine) restore() error {
	return e.o.Store.Raft().Restore(func() error {
		r, err := broker.OpenReplica(e.o.Store, e.o.FS, e.o.Dir, e.o.Broker())
		if err != nil {
			return err
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.replica = r
		return nil
	})
}

// fail stops the engine for good.
func (e *Engine) fail(err error) {
	e.mu.Lock()
	first := !e.failed
	e.failed, e.replica = true, nil
	e.mu.Unlock()
	if first {
		e.o.Fail(err)
	}
}

// Apply implements replica.Machine.
func (e *Engine) Apply(entry store.RaftEntry, own bool) {
	if own || len(entry.Batch) == 0 {
		return
	}
	e.mu.Lock()
	r := e.replica
	e.mu.Unlock()
	if r == nil {
		return // the engine has failed
	}
	if err := r.Apply(entry.Batch); err != nil {
		e.fail(err)
		return
	}
	e.checkpoint(r)
}

// checkpoint writes due checkpoints in the background.
func (e *Engine) checkpoint(r *broker.Replica) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.writing {
		return
	}
	write := r.Checkpoint(e.o.CheckpointBytes)
	if write == nil {
		return
	}
	e.writing = true
	e.writers.Go(func() {
		if err := write(); err != nil {
			e.o.Logger.Warn("checkpoint failed; the log is kept and grows", "err", err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.writing = false
	})
}

// Sum implements replica.Machine.
func (e *Engine) Sum(part uint32, place [2]uint64) (sum uint64, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.replica == nil {
		return 0, false
	}
	return e.replica.Sum(part, broker.Place{Last: place[0], Definitions: place[1]})
}

// Lead implements replica.Machine.
func (e *Engine) Lead(log *replica.Log) {
	e.mu.Lock()
	r := e.replica
	e.replica = nil
	e.mu.Unlock()
	if r == nil {
		return // the engine has failed
	}
	e.changing.Lock() // before Lose can be called
	go func() {
		defer e.changing.Unlock()
		b, err := r.Lead(log)
		if err != nil {
			e.fail(err)
			return
		}
		e.broker = b
		b.Go(func(stop <-chan struct{}) { compare(b, log, e.o.Logger, stop) })
		if err := e.o.Lead(b, log.AwaitLead); err != nil && !errors.Is(log.State().Err, store.ErrLost) {
			e.fail(err)
		}
	}()
}

// Lose implements replica.Machine.
func (e *Engine) Lose(restored func()) {
	go func() {
		e.changing.Lock()
		defer e.changing.Unlock()
		if e.closed {
			restored()
			return
		}
		if err := e.abandon(); err != nil {
			e.o.Logger.Warn("the engine did not end cleanly", "err", err)
		}
		e.writers.Wait() // the state must not change during the restoring
		if err := e.restore(); err != nil {
			e.fail(err)
		}
		restored()
	}()
}

// abandon closes the broker, if there is one.
func (e *Engine) abandon() error {
	b := e.broker
	if b == nil {
		return nil
	}
	e.broker = nil
	e.o.Lose()
	return b.Abandon()
}

// Close closes the engine after its replica has stopped. The store stays open.
func (e *Engine) Close() error {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.closed = true
	err := e.abandon()
	e.writers.Wait()
	return err
}
