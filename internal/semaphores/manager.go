package semaphores

import (
	"cmp"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
)

// Options configure a Manager. The zero value of a field is its default.
type Options struct {
	MaxBytes int64 // memory for tasks; new ones are rejected beyond; 0: no limit
	Logger   *slog.Logger
	Now      func() time.Time // time.Now
}

// Manager holds all semaphores of a broker. It is a state machine of the broker's log; any
// goroutine may call its methods.
type Manager struct {
	o    Options
	log  *slog.Logger
	step int // checkpointStep, less in tests
	most int // roundTransitions, less in tests

	combiner combiner // queues requests
	watchers watchers // get the events
	counters counters

	// These belong to the combiner's leader.
	n       uint64          // number of the round
	r       round           // the current round, and its buffers for the next one
	session *broker.Session // publishes the events of rounds; nil before the first

	// mu is held while the state is changed or read, but not while a batch is written to the log.
	// Order: mu, then watchers.mu. Nothing in the broker that blocks is called under it.
	mu     sync.Mutex
	b      *broker.Broker // nil until Start
	table  table
	flight *flight       // changes that are not durable yet; nil: none
	failed error         // why nothing can be changed any more
	dead   chan struct{} // closed with failed
	broken error         // what was wrong with an entry or a checkpoint
	alarm  int64         // unix ms the clock is set for

	clock clock
}

// New returns a manager without semaphores, to be filled by Restore and Apply.
func New(o Options) *Manager {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Manager{o: o, log: o.Logger, step: checkpointStep, most: roundTransitions, table: newTable(), alarm: math.MaxInt64}
	m.dead = make(chan struct{})
	m.watchers.by = map[target]map[*watcher]struct{}{}
	m.clock = clock{wake: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{})}
	return m
}

// Start makes the manager take changes, through b, which has recovered, and restarts all leases.
// Errors: what was wrong with the log.
func (m *Manager) Start(b *broker.Broker) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	m.b = b
	m.begin()
	m.clock.started = true
	go m.run()
	b.OnVHostDeleted(m.vhostDeleted)
	return nil
}

// Err is what was wrong with the log, and what Start would return; nil: nothing.
func (m *Manager) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.broken
}

// Apply implements statemachine.Machine. The changes of an entry that this process wrote are
// already made: it only tells the watchers.
func (m *Manager) Apply(_ uint64, entry []byte) {
	m.mu.Lock()
	f := m.flight
	if f == nil || m.b == nil {
		m.replay(entry)
		m.mu.Unlock()
		return
	}
	m.mu.Unlock()
	m.watchers.tell(f.events)
}

// Sum is a hash, equal for equal semaphores; ok is false while changes are made that the log does
// not have yet.
func (m *Manager) Sum() (sum uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flight != nil {
		return 0, false
	}
	return m.table.hash(), true
}

// Restore implements statemachine.Machine.
func (m *Manager) Restore(r io.Reader) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.restore(r)
}
