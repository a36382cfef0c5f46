package catalog

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Edit is a change of the definitions of a virtual host. It works on a routing table that is not
// visible until Commit, so it takes effect as a whole or, if abandoned, not at all.
//
// The methods that take a declaration or a name act for the holder of rights: they check
// permissions and record facts. They call the small methods below them, as Apply does.
type Edit struct {
	state  *State
	v      *VHost
	rights *Rights // nil in replay
	table  *routing.Table

	Made  []*Queue          // new, including buffers, by id
	Ended []*Queue          // deleted, including buffers
	Kept  []*Queue          // implicit queues that became explicit
	Bound []routing.Binding // new bindings

	// Removes reports that the edit removes something durable that messages can reach: a queue, an
	// exchange or a binding.
	Removes bool
	// Durable reports that something durable was changed or found, so the caller must wait for the
	// log.
	Durable bool

	declared   int64 // how many of Made are not buffers
	parameters []*ParameterFact
	facts      []byte
}

// Edit begins a change of the virtual host with the given rights; nil is for the engine itself. No
// other change may begin before Commit.
func (v *VHost) Edit(rights *Rights) *Edit {
	e := v.state.edit(v)
	e.rights = rights
	return e
}

func (s *State) edit(v *VHost) *Edit { return &Edit{state: s, v: v, table: v.Table()} }

// Facts returns what must be recorded, or nil if nothing durable changes.
func (e *Edit) Facts() []byte { return e.facts }

// ChangesPolicies reports whether the edit changes parameters that are policies.
func (e *Edit) ChangesPolicies() bool {
	return slices.ContainsFunc(e.parameters, func(f *ParameterFact) bool { return e.state.IsPolicy(string(f.Component)) })
}

// Commit makes the change visible.
func (e *Edit) Commit() {
	for _, q := range e.Made {
		e.state.keep(q)
	}
	for _, q := range e.Kept {
		q.implicit.Store(false)
	}
	for _, q := range e.Ended {
		e.state.forget(q)
	}
	if e.table != e.v.Table() {
		e.v.setTable(e.table)
	}
	for _, f := range e.parameters {
		e.state.ApplyParameter(f)
	}
}

// apply applies a fact.
func (e *Edit) apply(f *topologyFact) error {
	switch {
	case f.Queue != nil && f.Delete:
		if q, ok := e.queueByID(f.Queue.ID); ok {
			e.removeQueue(q)
		}
	case f.Queue != nil:
		if q, ok := e.queueByID(f.Queue.ID); ok {
			q.implicit.Store(f.Queue.Implicit) // nothing else of a queue can change
			break
		}
		e.addQueue(e.build(f.Queue))
	case f.Exchange != nil && f.Delete:
		_, err := e.removeExchange(string(f.Exchange.Name))
		return err
	case f.Exchange != nil:
		spec := f.Exchange.spec()
		var buffer *Queue
		if f.Exchange.Buffer != nil {
			buffer = e.build(f.Exchange.Buffer)
		}
		return e.addExchange(&spec, buffer)
	case f.Binding != nil && f.Delete:
		e.table, _ = e.table.Unbind(f.Binding.binding())
	case f.Binding != nil:
		t, _, err := e.table.Rebind(f.Binding.binding())
		if err != nil {
			return err
		}
		e.table = t
	}
	return nil
}

// build builds the queue of a fact.
func (e *Edit) build(f *queueFact) *Queue {
	q := e.state.engine.NewQueue()
	q.ID, q.Name, q.Shard, q.In = f.ID, string(f.Name), f.Shard, e.v
	q.Durable, q.DeclaredDurable, q.AutoDelete = true, true, f.AutoDelete
	q.Args, q.Declared = decodeArgs(f.Args), f.Policy.kept()
	q.implicit.Store(f.Implicit)
	e.state.nextQueue = max(e.state.nextQueue, q.ID+1)
	return q
}

// addQueue adds a queue made by build or newQueue.
func (e *Edit) addQueue(q *Queue) {
	e.state.engine.Build(q)
	e.Made = append(e.Made, q)
	e.declared++
	e.table = e.table.AddQueue(q.Name, routing.QueueID(q.ID))
}

// removeQueue removes a queue and returns the bindings removed with it.
func (e *Edit) removeQueue(q *Queue) (removed []routing.Binding) {
	e.table, removed = e.table.RemoveQueue(q.Name, routing.QueueID(q.ID))
	e.Ended = append(e.Ended, q)
	return removed
}

// addExchange adds an exchange, with its buffer unless that is nil.
func (e *Edit) addExchange(spec *routing.ExchangeSpec, buffer *Queue) error {
	t, err := e.table.DeclareExchange(*spec)
	if err == nil && buffer != nil {
		buffer.Durable, buffer.DeclaredDurable, buffer.Buffer = spec.Durable, spec.Durable, newBuffer(spec)
		e.state.engine.Build(buffer)
		t, err = t.SetBuffer(spec.Name, routing.Buffer{Queue: routing.QueueID(buffer.ID), Copy: buffer.Buffer.Keeps, Holds: buffer.holds(e.state.options.Delay)})
	}
	if err != nil {
		return err
	}
	e.table = t
	if buffer != nil {
		e.Made = append(e.Made, buffer)
	}
	return nil
}

// removeExchange removes an exchange with its buffer, and returns the bindings removed with it.
func (e *Edit) removeExchange(name string) (removed []routing.Binding, err error) {
	x, ok := e.table.Exchange(name)
	t, removed, err := e.table.DeleteExchange(name)
	if err != nil {
		return nil, err
	}
	e.table = t
	if ok {
		if buffer := e.bufferOf(x); buffer != nil {
			e.Ended = append(e.Ended, buffer)
		}
	}
	return removed, nil
}

// queueByID finds a queue, including those that this change adds.
func (e *Edit) queueByID(id uint64) (*Queue, bool) {
	if i, ok := slices.BinarySearchFunc(e.Made, id, func(q *Queue, id uint64) int { return cmp.Compare(q.ID, id) }); ok {
		return e.Made[i], true
	}
	return e.state.Queue(id)
}

func (e *Edit) bufferOf(x *routing.Exchange) *Queue {
	if id := x.Buffer().Queue; id != 0 {
		q, _ := e.queueByID(uint64(id))
		return q
	}
	return nil
}

// durable reports whether both ends of a binding survive a restart.
func (e *Edit) durable(b *routing.Binding) bool {
	x, ok := e.table.Exchange(b.Source)
	if !ok || !x.Spec.Durable {
		return false
	}
	if b.ToExchange != "" {
		d, ok := e.table.Exchange(b.ToExchange)
		return ok && d.Spec.Durable
	}
	q, ok := e.queueByID(uint64(b.ToQueue))
	return ok && q.Durable
}

// record adds a fact.
func (e *Edit) record(f *topologyFact) {
	f.VHost = e.v.Name
	e.facts = f.Append(e.facts)
	e.Durable, e.Removes = true, e.Removes || f.Delete
}

// Usable finds a queue for the holder of the edit's rights.
func (e *Edit) Usable(name string) (*Queue, error) {
	id, ok := e.table.Queue(name)
	if !ok {
		return nil, e.rights.NoQueue(name)
	}
	q, ok := e.queueByID(uint64(id))
	if !ok {
		return nil, e.rights.NoQueue(name)
	}
	if err := e.rights.mayUse(q); err != nil {
		return nil, err
	}
	return q, nil
}

// roomForQueue returns an error if the queue limit of the virtual host is reached.
func (e *Edit) roomForQueue(name string) error {
	if n := e.v.Limit(LimitQueues); n >= 0 && e.v.queues.Load()+e.declared >= n {
		return &failure.Error{Err: failure.ErrQueueLimit, Kind: "queue", Name: name, VHost: e.v.Name, Current: n}
	}
	return nil
}
