// Package cluster makes the engine of a node the state machine of its replica: while another node
// leads, the engine follows what is committed; while this one leads, it is a broker.
//
// # Changes of leadership
//
// A replica tells of them on its own goroutine, which must not wait. What takes time (making the
// queues ready, ending the broker, restoring what is committed) is done beside it, one change at a
// time. Nothing is applied between the end of a leadership and the end of the restoring.
package cluster

import (
	"errors"
	"log/slog"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Options say what an Engine is made of.
type Options struct {
	Store *store.Store // of a replica, open
	FS    vfs.FS
	Dir   string // of Store
	// Broker returns the options of the next engine, whose state machines are empty. What the one
	// before it had is not used any more.
	Broker func() broker.Options
	// Lead gets the broker when this node leads, and the lease without which nothing that it knows
	// may go to clients; with an error it fails, unless the leadership is lost by then. Lose is
	// told when it is: all sessions must be closed when it returns. They are called one at a time,
	// on any goroutine, and Lose once for every call of Lead.
	Lead func(*broker.Broker, protocol.Lease) error
	Lose func()
	// Fail is told, once, that the engine cannot follow or lead: the node is of no use until it is
	// started again, or replaced.
	Fail func(error)
	// CheckpointBytes is how much a shard logs between two checkpoints of a node that follows;
	// 128 MiB.
	CheckpointBytes int64
	Logger          *slog.Logger
}

// Engine is the engine of a node. It implements replica.Machine.
type Engine struct {
	o Options

	changing sync.Mutex // held by a change of leadership

	mu      sync.Mutex
	replica *broker.Replica // what follows; nil while this node leads, and after a failure
	broker  *broker.Broker  // what leads; changing is held, too, when it changes
	failed  bool
	writing bool // a checkpoint is being written
	writers sync.WaitGroup
}

var _ replica.Machine = (*Engine)(nil)

// NewEngine restores what is committed in the store. Errors: those of broker.OpenReplica.
func NewEngine(o Options) (*Engine, error) {
	if o.CheckpointBytes == 0 {
		o.CheckpointBytes = 128 << 20
	}
	e := &Engine{o: o}
	if err := e.restore(); err != nil {
		return nil, err
	}
	return e, nil
}

// restore makes the engine one that follows.
func (e *Engine) restore() error {
	e.o.Store.Raft().Uncount()
	r, err := broker.OpenReplica(e.o.Store, e.o.FS, e.o.Dir, e.o.Broker())
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replica = r
	return nil
}

// fail ends the engine.
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
		return // it has failed
	}
	if err := r.Apply(entry.Batch); err != nil {
		e.fail(err)
		return
	}
	e.checkpoint(r)
}

// checkpoint writes the checkpoints that are due, beside everything else.
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
		return // it has failed
	}
	e.changing.Lock() // before Lose can be told
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
		if err := e.abandon(); err != nil {
			e.o.Logger.Warn("the engine did not end cleanly", "err", err)
		}
		e.writers.Wait() // what is restored does not change meanwhile
		if err := e.restore(); err != nil {
			e.fail(err)
		}
		restored()
	}()
}

// abandon ends the broker, if there is one.
func (e *Engine) abandon() error {
	b := e.broker
	if b == nil {
		return nil
	}
	e.broker = nil
	e.o.Lose()
	return b.Abandon()
}

// Close ends the engine when its replica has stopped. The store stays open.
func (e *Engine) Close() error {
	e.changing.Lock()
	defer e.changing.Unlock()
	err := e.abandon()
	e.writers.Wait()
	return err
}
