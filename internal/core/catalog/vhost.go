package catalog

import (
	"iter"
	"maps"
	"slices"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// VHost is one virtual host: a namespace of exchanges and queues. The engine embeds it in its own
// struct.
type VHost struct {
	Name    string
	Made    uint64 // VHostID.Made
	Runtime any    // the engine's own struct

	state      *State
	table      atomic.Pointer[routing.Table] // replaced as a whole
	queues     atomic.Int64                  // currently declared, without buffers
	info       VHostFact                     // guarded by users.mu
	parameters parameters
	policies   atomic.Pointer[Rules] // nil: there are none
	version    atomic.Uint64         // changes with every change of definitions and parameters
	gone       bool                  // deleted; only for changes of definitions
}

// VHostID identifies a virtual host: a new one with the name of a deleted one has another ID.
type VHostID struct {
	Name string
	Made uint64
}

// ID returns the identity of this virtual host.
func (v *VHost) ID() VHostID { return VHostID{v.Name, v.Made} }

// Table returns the routing table, which never changes: every change of the definitions creates a
// new one. Any goroutine may call it.
func (v *VHost) Table() *routing.Table { return v.table.Load() }

// Version returns a number that changes with every change of exchanges, queues, bindings and
// parameters, for caches of what was read from them. Read the version before the definitions.
func (v *VHost) Version() uint64 { return v.version.Load() }

// Gone reports whether the virtual host was deleted. Only changes of definitions call it.
func (v *VHost) Gone() bool { return v.gone }

// setTable replaces the routing table.
func (v *VHost) setTable(t *routing.Table) {
	v.table.Store(t)
	v.touch()
	v.state.engine.TableChanged()
}

// touch gives the virtual host a new version. It is called after the change.
func (v *VHost) touch() { v.version.Store(v.state.versions.Add(1)) }

// Queue finds a queue by name, unless it is an exchange buffer.
func (v *VHost) Queue(name string) (*Queue, bool) { return v.state.QueueIn(v.Table(), name) }

// All yields the queues of a table, including exchange buffers.
func (v *VHost) All(table *routing.Table) iter.Seq[*Queue] {
	return func(yield func(*Queue) bool) {
		for _, id := range table.Queues() {
			if q, ok := v.state.Queue(uint64(id)); ok && !yield(q) {
				return
			}
		}
		for x := range table.Exchanges() {
			if q := v.state.BufferOf(x); q != nil && !yield(q) {
				return
			}
		}
	}
}

// Check returns ErrVHostNotFound if the virtual host was deleted while a session used it. Only
// changes of definitions call it.
func (v *VHost) Check() error {
	if v.gone {
		return VHostNotFound(v.Name)
	}
	return nil
}

// Limit returns a limit of the virtual host. A value below 0 means no limit.
func (v *VHost) Limit(name string) int64 {
	v.state.users.mu.RLock()
	defer v.state.users.mu.RUnlock()
	return v.info.Limits.Get(name)
}

// Fact returns the virtual host as a fact.
func (v *VHost) Fact() VHostFact {
	v.state.users.mu.RLock()
	defer v.state.users.mu.RUnlock()
	return v.info
}

// Info describes the virtual host.
func (v *VHost) Info() VHostInfo {
	info := v.Fact()
	return VHostInfo{
		VHostSpec: VHostSpec{
			Name: v.Name, Description: info.Description, Tags: slices.Clone(info.Tags), DefaultQueueType: info.DefaultQueueType,
		},
		Limits: maps.Clone(info.Limits), Queues: int(v.queues.Load()), Exchanges: v.Table().ExchangeCount(),
	}
}

// VHostNotFound returns the error for a virtual host that does not exist.
func VHostNotFound(name string) error {
	return &failure.Error{Err: failure.ErrVHostNotFound, Kind: "vhost", Name: name, VHost: name}
}
