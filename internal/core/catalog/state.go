package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// Engine is the part of the engine that definitions call. Its methods are called during a change,
// one at a time, and must not block.
type Engine interface {
	// NewVHost and NewQueue return a definition that is embedded in the engine's own struct, its
	// Runtime.
	NewVHost() *VHost
	NewQueue() *Queue
	// Build is called for a queue once its definition is complete, before it can be found.
	Build(q *Queue)
	// Place chooses the shard of a new queue.
	Place(v *VHost, id uint64, p *QueuePolicy) (shard uint32)
	// Added is called when a queue can be found, Removed when it no longer can.
	Added(q *Queue)
	Removed(q *Queue)
	// LimitVHost and LimitUser are called with the limits that now apply; a deleted virtual host
	// has none. DropUser is called for a deleted user.
	LimitVHost(v *VHost, limits Limits)
	LimitUser(user string, limits Limits)
	DropUser(user string)
	// TableChanged is called when exchanges, queues or bindings have changed.
	TableChanged()
}

// Options connect the definitions with the code that interprets them.
type Options struct {
	// Conditions are the languages, besides selectors, for conditions of bindings.
	Conditions routing.Conditions
	// Policies compile parameters to rules; nil: there are no policies.
	Policies Policies
	// Delay returns for how many ms a delayed exchange holds a message with these headers.
	Delay func(headers []byte) int64
}

// State holds the definitions of one broker. Changes are made one at a time, under a lock of the
// caller. Any goroutine may read without a lock.
type State struct {
	engine  Engine
	options Options

	vhosts     sync.Map // name → *VHost
	queues     sync.Map // id → *Queue
	queueCount atomic.Int64
	users      users
	own        parameters // the broker's own, without a virtual host
	versions   atomic.Uint64

	alone bool // during Alone

	nextQueue uint64
	reserved  map[string]int64 // for each sequence: numbers below may have been used
}

// New returns the definitions of an empty data folder.
func New(engine Engine, o Options) *State {
	s := &State{engine: engine, options: o, nextQueue: 1, reserved: map[string]int64{}}
	s.users.byName = map[string]*user{}
	for _, f := range defaults {
		s.ApplyAccess(f) //nolint:errcheck // the patterns compile
	}
	return s
}

// VHost finds a virtual host.
func (s *State) VHost(name string) (*VHost, bool) {
	v, ok := s.vhosts.Load(name)
	if !ok {
		return nil, false
	}
	return v.(*VHost), true
}

// VHosts returns all virtual hosts by name.
func (s *State) VHosts() (all []*VHost) {
	s.vhosts.Range(func(_, v any) bool {
		all = append(all, v.(*VHost))
		return true
	})
	slices.SortFunc(all, func(a, b *VHost) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Queue finds a queue, which may be an exchange buffer.
func (s *State) Queue(id uint64) (*Queue, bool) {
	q, ok := s.queues.Load(id)
	if !ok {
		return nil, false
	}
	return q.(*Queue), true
}

// Queues calls fn for each queue, including buffers, in no particular order.
func (s *State) Queues(fn func(*Queue)) {
	s.queues.Range(func(_, q any) bool {
		fn(q.(*Queue))
		return true
	})
}

// QueueCount returns how many queues there are, including buffers.
func (s *State) QueueCount() int64 { return s.queueCount.Load() }

// QueueIn finds the queue with a name in a table.
func (s *State) QueueIn(t *routing.Table, name string) (*Queue, bool) {
	id, ok := t.Queue(name)
	if !ok {
		return nil, false
	}
	return s.Queue(uint64(id))
}

// BufferOf returns the buffer of the exchange, or nil if it has none.
func (s *State) BufferOf(x *routing.Exchange) *Queue {
	id := x.Buffer().Queue
	if id == 0 {
		return nil
	}
	q, _ := s.Queue(uint64(id))
	return q
}

// keep adds a queue to the list of all queues.
func (s *State) keep(q *Queue) {
	s.queues.Store(q.ID, q)
	s.queueCount.Add(1)
	if q.Buffer == nil {
		q.In.queues.Add(1)
	}
	s.engine.Added(q)
}

// forget removes a queue from the list of all queues.
func (s *State) forget(q *Queue) {
	if _, had := s.queues.LoadAndDelete(q.ID); !had {
		return
	}
	s.queueCount.Add(-1)
	if q.Buffer == nil {
		q.In.queues.Add(-1)
	}
	s.engine.Removed(q)
}

// Apply applies a fact of the log, including its type byte. Errors: shardstate.ErrUnsupported,
// shardstate.ErrMalformed.
func (s *State) Apply(index uint64, fact []byte) (err error) {
	if len(fact) == 0 {
		return fmt.Errorf("topology entry %d: %w: no fact", index, shardstate.ErrMalformed)
	}
	switch payload := fact[1:]; fact[0] {
	case factTopology:
		err = decoded(payload, s.applyTopology)
	case factAccess:
		err = decoded(payload, s.ApplyAccess)
	case factParameter:
		err = decoded(payload, func(f *ParameterFact) error {
			s.ApplyParameter(f) // false if its virtual host was deleted later
			return nil
		})
	case factSequence:
		err = decoded(payload, func(f *SequenceFact) error {
			s.ApplySequence(f)
			return nil
		})
	default:
		err = fmt.Errorf("%w: unknown fact", shardstate.ErrUnsupported)
	}
	if err != nil {
		return fmt.Errorf("topology entry %d: %w", index, err)
	}
	return nil
}

// Alone calls apply, which applies facts before anybody reads the definitions. So routing tables
// change in place: a copy for each fact would be most of the work with many queues.
func (s *State) Alone(apply func() error) error {
	s.alone = true
	err := apply()
	s.alone = false
	for _, v := range s.VHosts() {
		v.table.Store(v.Table().Public())
	}
	return err
}

// decoded decodes a fact, which is a JSON object, and applies it.
func decoded[F any](payload []byte, apply func(*F) error) error {
	var f F
	if err := json.Unmarshal(payload, &f); err != nil {
		return err
	}
	return apply(&f)
}

// applyTopology changes exchanges, queues and bindings.
func (s *State) applyTopology(f *topologyFact) error {
	s.nextQueue = max(s.nextQueue, f.NextQueue)
	v, ok := s.VHost(f.VHost)
	if !ok {
		if f.NextQueue > 0 {
			return nil
		}
		return fmt.Errorf("%w: virtual host '%s' is not there", shardstate.ErrMalformed, f.VHost)
	}
	if s.alone {
		v.table.Store(v.Table().Private())
	}
	e := s.edit(v)
	if err := e.apply(f); err != nil {
		return err
	}
	e.Commit()
	return nil
}

// Reserve returns the fact that a sequence's numbers below upTo may have been used.
func Reserve(sequence string, upTo int64) *SequenceFact {
	return &SequenceFact{Name: name(sequence), UpTo: upTo}
}

// ApplySequence applies that fact.
func (s *State) ApplySequence(f *SequenceFact) {
	s.reserved[string(f.Name)] = max(s.reserved[string(f.Name)], f.UpTo)
}

// Reserved returns the number below which a sequence may have used all numbers; 0 means that it has
// used none. Only changes of definitions call it.
func (s *State) Reserved(sequence string) int64 { return s.reserved[sequence] }

// Facts returns the facts that turn empty definitions into these. Their order is fixed, except for
// the order of virtual hosts in the topology.
func (s *State) Facts(yield func(Fact) bool) {
	for _, f := range slices.Concat(s.accessFacts(), s.parameterFacts(), s.sequenceFacts()) {
		if !yield(f) {
			return
		}
	}
	if !yield(&topologyFact{VHost: "/", NextQueue: s.nextQueue}) {
		return
	}
	for _, v := range s.VHosts() {
		if !v.facts(yield) {
			return
		}
	}
}

// facts yields the facts of durable exchanges, queues and bindings. It returns false if yield
// stopped.
func (v *VHost) facts(yield func(Fact) bool) bool {
	t, e := v.Table(), v.state.edit(v)
	for x := range t.Exchanges() {
		if x.Spec.Durable && !Predeclared(x.Spec.Name) &&
			!yield(&topologyFact{VHost: v.Name, Exchange: newExchangeFact(&x.Spec, v.state.BufferOf(x))}) {
			return false
		}
	}
	for _, id := range t.Queues() {
		if q, ok := v.state.Queue(uint64(id)); ok && q.Durable && !yield(&topologyFact{VHost: v.Name, Queue: newQueueFact(q)}) {
			return false
		}
	}
	for b := range t.Bindings() {
		if e.durable(&b) && !yield(&topologyFact{VHost: v.Name, Binding: newBindingFact(&b)}) {
			return false
		}
	}
	return true
}

func (s *State) sequenceFacts() (facts []Fact) {
	for _, n := range slices.Sorted(maps.Keys(s.reserved)) {
		facts = append(facts, &SequenceFact{Name: name(n), UpTo: s.reserved[n]})
	}
	return facts
}

// Hash returns a hash that is equal for equal durable definitions.
func (s *State) Hash() (sum uint64) {
	for f := range s.Facts {
		if t, ok := f.(*topologyFact); ok && t.NextQueue > 0 {
			continue // the number also counts unrecorded changes
		}
		h := fnv.New64a()
		h.Write(f.Append(nil))
		sum += h.Sum64()
	}
	return sum
}

// Predeclared reports whether every virtual host has an exchange of this name.
func Predeclared(name string) bool { return name == "" || len(name) >= 4 && name[:4] == "amq." }
