package dynamic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
)

// Component is the component of the parameters that define shovels.
const Component = "shovel"

// Options configure a Manager. A zero value means the default in brackets.
type Options struct {
	// Local connects to this broker, for URIs without a host.
	Local       func(ctx context.Context) (net.Conn, error)
	ClusterName func() string    // name of this broker in forwarded messages
	Now         func() time.Time // [time.Now]
	Log         *slog.Logger     // [slog.Default()]
}

// Manager runs the shovels of one broker. A nil Manager has none.
type Manager struct {
	broker  *broker.Broker
	o       Options
	changed chan struct{} // 1 slot: the parameters may have changed
	stop    context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	workers map[identity]*worker // guarded by mu; changed only by the manager's goroutine
}

// identity identifies a shovel.
type identity struct{ VHost, Name string }

// NewManager returns a manager of the shovels of a broker. It runs none before Start.
func NewManager(b *broker.Broker, o Options) *Manager {
	if o.ClusterName == nil {
		o.ClusterName = func() string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return &Manager{broker: b, o: o, changed: make(chan struct{}, 1), done: make(chan struct{}), workers: map[identity]*worker{}}
}

// Start runs all existing and future shovels until Stop.
func (m *Manager) Start() {
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.broker.OnParameters(Component, m.look)
	m.look()
	go m.run(ctx)
}

// Stop stops all shovels. It returns when they have acknowledged at their sources what has arrived.
func (m *Manager) Stop() {
	if m == nil || m.stop == nil {
		return
	}
	m.stop()
	<-m.done
}

// look wakes the manager to read the parameters.
func (m *Manager) look() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

func (m *Manager) run(ctx context.Context) {
	defer close(m.done)
	for {
		select {
		case <-ctx.Done():
			m.end(func(identity, *worker) bool { return true })
			return
		case <-m.changed:
			m.follow(ctx)
		}
	}
}

// follow starts and stops shovels so that exactly the defined ones run.
func (m *Manager) follow(ctx context.Context) {
	wanted := map[identity]json.RawMessage{}
	for _, v := range m.broker.VHosts() {
		for _, p := range m.broker.Parameters(v.Name, Component) {
			wanted[identity{p.VHost, p.Name}] = p.Value
		}
	}
	m.end(func(id identity, w *worker) bool { return !bytes.Equal(wanted[id], w.value) || w.again.Load() })
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, value := range wanted {
		if m.workers[id] == nil {
			m.workers[id] = startWorker(ctx, m, id, value)
		}
	}
}

// end stops the matching workers concurrently, waits for them, and removes them.
func (m *Manager) end(match func(identity, *worker) bool) {
	ending := map[identity]*worker{}
	m.mu.Lock()
	for id, w := range m.workers {
		if match(id, w) {
			w.stop()
			ending[id] = w
		}
	}
	m.mu.Unlock()
	for _, w := range ending {
		<-w.done
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range ending {
		delete(m.workers, id)
	}
}

// List returns the status of all shovels, sorted by virtual host and name.
func (m *Manager) List() []Status {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	all := make([]Status, 0, len(m.workers))
	for _, w := range m.workers {
		all = append(all, w.show())
	}
	m.mu.Unlock()
	slices.SortFunc(all, func(a, b Status) int { return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Name, b.Name)) })
	return all
}

// Has reports whether a shovel exists.
func (m *Manager) Has(vhost, name string) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.workers[identity{vhost, name}] != nil
}

// Restart makes a shovel start anew soon. It returns false if there is no such shovel.
func (m *Manager) Restart(vhost, name string) bool {
	if !m.Has(vhost, name) {
		return false
	}
	m.mu.Lock()
	if w := m.workers[identity{vhost, name}]; w != nil {
		w.again.Store(true)
	}
	m.mu.Unlock()
	m.look()
	return true
}
