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

// Options configures a Manager. The zero value of a field is its default.
type Options struct {
	MaxBytes int64 // memory for tasks, beyond which new ones are rejected; 0: no limit
	Logger   *slog.Logger
	Now      func() time.Time // default: time.Now
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

	// The fields below belong to the combiner's leader.
	n       uint64          // number of the current round
	r       round           // the current round, and buffers for the next one
	session *broker.Session // publishes the events of rounds; nil before the first

	// mu is held while the state is changed or read, but not while a batch is written to the log.
	// Lock order: mu, watchers.mu. No blocking function of the broker is called while it is held.
	mu     sync.Mutex
	b      *broker.Broker // nil until Start
	table  table
	flight *flight       // changes that are not durable yet; nil if there are none
	failed error         // why no further changes can be made
	dead   chan struct{} // closed when failed is set
	broken error         // error in a log entry or a checkpoint
	alarm  int64         // time the clock is set for, in unix ms

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

// Start makes the manager accept changes through b, which must have recovered, and restarts all
// leases. It returns the error that the log had, if any.
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

// Err returns the error that the log had, which Start would return, or nil.
func (m *Manager) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.broken
}

// Apply implements statemachine.Machine. The changes of an entry that this process wrote are
// already made: then Apply only notifies the watchers.
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

// Sum returns a hash, which is equal for equal semaphores. ok is false while changes are made that
// are not in the log yet.
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
