package shard

import (
	"iter"
	"slices"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/throttle"
)

// Rate returns the limit for messages that sessions publish in the virtual host.
func (v *VHost) Rate() *throttle.Limit { return &v.rate }

// Tapped reports whether the virtual host is tapped.
func (v *VHost) Tapped() bool { return v.tapped.Load() }

// Tap starts or stops the tap of the virtual host, and reports whether that changed anything.
func (v *VHost) Tap(on bool) (changed bool) { return v.tapped.Swap(on) != on }

// EnterVHost adds the shard of a queue with an order to its virtual host. Only the goroutine that
// changes the definitions may call it.
func (q *Queue) EnterVHost() {
	if q.Declared.ConsumeAfter {
		q.vhost.orderOn(q)
	}
}

// Emitted counts a message of the server itself. Such messages are rare.
func (v *VHost) Emitted(exchange *routing.Traffic, n int) {
	lost := uint64(0)
	if n == 0 {
		lost = 1
	}
	exchange.Add(1, uint64(n), lost)
	v.traffic.Add(1, uint64(n), lost)
}

// VHost is one virtual host: a name space of exchanges and queues.
type VHost struct {
	catalog.VHost // its definitions

	set     *Set
	traffic routing.Traffic // of all its exchanges, including deleted ones
	rate    throttle.Limit
	scan    atomic.Pointer[scanOrder] // nil before the first Finder.QueuesFrom
	tapped  atomic.Bool               // SetTapped

	ordered atomic.Pointer[[]*Shard] // shards that have or had queues with an order, that of the newest last; replaced as a whole, by the goroutine that changes the definitions
	newest  uint64                   // id of the newest such queue
}

// OrderedOn returns the shards that have or had queues with an order (QueuePolicy.ConsumeAfter),
// with that of the newest queue last.
func (v *VHost) OrderedOn() []*Shard {
	if shards := v.ordered.Load(); shards != nil {
		return *shards
	}
	return nil
}

// orderOn adds the shard of a queue with an order. Only the goroutine that changes the definitions
// may call it.
func (v *VHost) orderOn(q *Queue) {
	have := v.OrderedOn()
	shards := slices.DeleteFunc(slices.Clone(have), func(sh *Shard) bool { return sh == q.shard })
	switch {
	case q.ID > v.newest:
		v.newest, shards = q.ID, append(shards, q.shard)
	case slices.Contains(have, q.shard):
		return
	default:
		shards = slices.Insert(shards, 0, q.shard)
	}
	v.ordered.Store(&shards)
}

// Queues yields the queues of the virtual host, without those that belong to exchanges.
func (v *VHost) Queues() iter.Seq[*Queue] {
	return func(yield func(*Queue) bool) {
		for _, id := range v.Table().Queues() {
			if q, ok := v.set.QueueByID(uint64(id)); ok && !yield(q) {
				return
			}
		}
	}
}

// Traffic returns the counters of the virtual host's exchanges, including deleted ones.
func (v *VHost) Traffic() *routing.Traffic { return &v.traffic }

// scanOrder holds the sorted ids of the queues of a virtual host.
type scanOrder struct {
	table *routing.Table // the routing table that has them
	ids   []uint64
}

// QueueIDs returns the sorted ids of the queues.
func (v *VHost) QueueIDs() []uint64 {
	table := v.Table()
	if o := v.scan.Load(); o != nil && o.table == table {
		return o.ids
	}
	o := &scanOrder{table: table}
	for _, id := range table.Queues() {
		o.ids = append(o.ids, uint64(id))
	}
	slices.Sort(o.ids)
	v.scan.Store(o)
	return o.ids
}

// Queue finds a queue by name.
func (v *VHost) Queue(name string) (*Queue, bool) { return v.set.QueueIn(v.Table(), name) }

// Resolve converts a routing result into targets.
func (v *VHost) Resolve(ids []routing.QueueID) Targets {
	if len(ids) == 0 {
		return Targets{}
	}
	queues := make([]*Queue, 0, len(ids))
	for _, id := range ids {
		if q, ok := v.set.QueueByID(uint64(id)); ok {
			queues = append(queues, q)
		}
	}
	return NewTargets(queues)
}

// route finds the targets of a dead letter. There are none if its exchange does not exist.
func (v *VHost) route(m *deadletter.Message) Targets {
	var r routing.Route
	rm := m.Routed()
	if err := v.Table().Route(string(m.Env.Exchange()), &rm, &r); err != nil {
		return Targets{}
	}
	return v.Resolve(r.Queues)
}

// routeOut routes a message that the engine publishes from an exchange. ok is false if the exchange
// does not exist.
func (v *VHost) routeOut(exchange string, m *forward.Message, past routing.Past) (t Targets, ok bool) {
	table := v.Table()
	x, ok := table.Exchange(exchange)
	if !ok {
		return t, false
	}
	var r routing.Route
	rm := m.Routed()
	rm.Past = past
	table.RouteFrom(x, &rm, &r)
	return v.Resolve(r.Queues), true
}
