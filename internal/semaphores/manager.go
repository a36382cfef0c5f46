package semaphores

import (
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"fiveways/internal/broker"
)

// Options configure a Manager. The zero value of a field is its default.
type Options struct {
	MaxBytes int64 // memory that tasks may take; new ones are refused beyond; 0: no bound
	Logger   *slog.Logger
	Now      func() time.Time // time.Now
}

// Manager is all semaphores of a broker. It is the broker's annex, and its methods may be called by any goroutine.
type Manager struct {
	o    Options
	log  *slog.Logger
	step int // checkpointStep, less in tests
	most int // roundTransitions, less in tests

	line     line     // who wait for their turn
	watchers watchers // who are told of what happens
	counters counters

	// These belong to who leads the line.
	n     uint64          // number of the round
	r     round           // in hand, and its room for the next one
	voice *broker.Session // in whose name events of rounds go out; nil before the first

	// mu is held while the state is changed or read, and not while a group of the log is on its way.
	// Order: mu, then watchers.mu. Nothing of the broker that waits is called under it.
	mu     sync.Mutex
	b      *broker.Broker // nil until Start
	table  table
	flight *flight       // what was changed and is not durable yet; nil: nothing
	failed error         // why nothing is changed any more
	dead   chan struct{} // closed with failed
	broken error         // what was wrong with an entry or a checkpoint
	alarm  int64         // unix ms for which the clock is set

	clock clock
}

// New returns a manager without semaphores, to be filled by Restore and Apply.
func New(o Options) *Manager {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Manager{o: o, log: o.Logger, step: checkpointStep, most: roundTransitions, table: newTable(), alarm: math.MaxInt64}
	m.dead = make(chan struct{})
	m.watchers.by = map[place]map[*watcher]struct{}{}
	m.clock = clock{wake: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{})}
	return m
}

// Start lets it take changes, through b, which has recovered, and begins all leases anew. Errors: what was wrong with the log.
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

// Err is what was wrong with the log that it read, and what Start would return; nil: nothing.
func (m *Manager) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.broken
}

// Apply implements broker.Annex. An entry of a group that was made here says what is done already: those who watch are told.
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

// Hash is equal for equal semaphores; Broker.Hash contains it.
func (m *Manager) Hash() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table.hash()
}

// Restore implements broker.Annex.
func (m *Manager) Restore(r io.Reader) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.restore(r)
}
