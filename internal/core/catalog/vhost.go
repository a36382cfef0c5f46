package catalog

import (
	"iter"
	"maps"
	"slices"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// VHost is one virtual host: a name space of exchanges and queues. The engine embeds it in what it
// holds of the virtual host.
type VHost struct {
	Name    string
	Made    uint64 // VHostID.Made
	Runtime any    // what the engine holds of it

	state      *State
	table      atomic.Pointer[routing.Table] // replaced as a whole
	queues     atomic.Int64                  // declared now, without buffers
	info       VHostFact                     // guarded by users.mu
	parameters parameters
	policies   atomic.Pointer[Rules] // nil: there are none
	version    atomic.Uint64         // another one after each change of definitions and parameters
	gone       bool                  // it was deleted; for changes of definitions
}

// VHostID says which virtual host is meant: one that is made anew under the name of one that was
// deleted is another.
type VHostID struct {
	Name string
	Made uint64
}

// ID says which virtual host this is.
func (v *VHost) ID() VHostID { return VHostID{v.Name, v.Made} }

// Table is the routing table, which never changes: the next change of the definitions makes
// another. Any goroutine may ask.
func (v *VHost) Table() *routing.Table { return v.table.Load() }

// Version is a number that differs after every change of the exchanges, queues, bindings and
// parameters, so that what was read from them can be cached: read it first, then the definitions.
func (v *VHost) Version() uint64 { return v.version.Load() }

// Gone reports whether the virtual host was deleted. It is for changes of definitions.
func (v *VHost) Gone() bool { return v.gone }

// setTable makes a table the one that counts.
func (v *VHost) setTable(t *routing.Table) {
	v.table.Store(t)
	v.touch()
	v.state.engine.TableChanged()
}

// touch gives the virtual host a version that none had before. It comes after the change.
func (v *VHost) touch() { v.version.Store(v.state.versions.Add(1)) }

// Queue finds the queue of a name, which is no exchange buffer.
func (v *VHost) Queue(name string) (*Queue, bool) { return v.state.QueueIn(v.Table(), name) }

// All yields the queues of a table, with those that belong to exchanges.
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

// Check reports whether definitions of the virtual host may change: it may have been deleted while
// a session used it. It is for changes of definitions. Errors: ErrVHostNotFound.
func (v *VHost) Check() error {
	if v.gone {
		return VHostNotFound(v.Name)
	}
	return nil
}

// Limit is a limit of the virtual host; below 0 is none.
func (v *VHost) Limit(name string) int64 {
	v.state.users.mu.RLock()
	defer v.state.users.mu.RUnlock()
	return v.info.Limits.Get(name)
}

// Fact is the virtual host as the log has it.
func (v *VHost) Fact() VHostFact {
	v.state.users.mu.RLock()
	defer v.state.users.mu.RUnlock()
	return v.info
}

// Info is the virtual host as others see it.
func (v *VHost) Info() VHostInfo {
	info := v.Fact()
	return VHostInfo{
		VHostSpec: VHostSpec{
			Name: v.Name, Description: info.Description, Tags: slices.Clone(info.Tags), DefaultQueueType: info.DefaultQueueType,
		},
		Limits: maps.Clone(info.Limits), Queues: int(v.queues.Load()), Exchanges: v.Table().ExchangeCount(),
	}
}

// VHostNotFound is the failure of a name that no virtual host has.
func VHostNotFound(name string) error {
	return &failure.Error{Err: failure.ErrVHostNotFound, Kind: "vhost", Name: name, VHost: name}
}
