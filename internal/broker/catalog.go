package broker

import (
	"hash/fnv"
	"sync"
	"sync/atomic"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
	"fiveways/internal/storage/store"
)

// topologyShard is the log of the definitions.
const topologyShard = 0

// tableCell holds the routing table of a virtual host, which is read without a
// lock and replaced as a whole.
type tableCell struct {
	atomic.Pointer[routing.Table]
	changed func() // runs after each Store; nil: nothing does
}

// Store replaces the table.
func (c *tableCell) Store(t *routing.Table) {
	c.Pointer.Store(t)
	if c.changed != nil {
		c.changed()
	}
}

// catalog holds the definitions: what the client declared. Changes are made
// one at a time under mu: decide, apply, append the fact; waiting for the disk
// is done outside. Readers use the immutable routing tables and the queue map
// and take no lock.
type catalog struct {
	b      *Broker
	vhosts sync.Map // name -> *VHost
	queues sync.Map // id -> *Queue

	parameters parameters // those that are of no virtual host

	mu        sync.Mutex
	nextQueue uint64
	index     uint64           // of the last entry appended
	dropped   []*Queue         // relays whose deletion is recorded next
	reserved  map[string]int64 // of each sequence, as recorded: numbers below may have been given

	logged logged

	promise struct {
		sync.Mutex
		cond    *sync.Cond
		durable uint64
		err     error
	}
}

// newCatalog gives the broker the definitions that a fresh data folder has.
func newCatalog(b *Broker) {
	c := &catalog{b: b, nextQueue: 1, reserved: map[string]int64{}}
	c.promise.cond = sync.NewCond(&c.promise)
	b.catalog = c
	b.rules.users = map[string]*user{}
	for _, f := range defaults {
		c.applyAccess(f) //nolint:errcheck // the patterns compile
	}
}

func (c *catalog) addVHost(f *vhostFact) *VHost {
	v := &VHost{Name: f.Name, made: f.Made, b: c.b}
	v.table.Store(routing.NewWith(c.b.opts.Conditions))
	v.touch()
	v.table.changed = func() {
		v.touch()
		c.b.tableChanged()
	}
	have, _ := c.vhosts.LoadOrStore(f.Name, v)
	return have.(*VHost)
}

func (c *catalog) vhost(name string) (*VHost, bool) {
	v, ok := c.vhosts.Load(name)
	if !ok {
		return nil, false
	}
	return v.(*VHost), true
}

func (b *Broker) queueByID(id uint64) (*Queue, bool) {
	q, ok := b.catalog.queues.Load(id)
	if !ok {
		return nil, false
	}
	return q.(*Queue), true
}

func (v *VHost) queue(name string) (*Queue, bool) { return v.b.queueIn(v.table.Load(), name) }

// queueIn finds the queue that has a name in a table.
func (b *Broker) queueIn(t *routing.Table, name string) (*Queue, bool) {
	id, ok := t.Queue(name)
	if !ok {
		return nil, false
	}
	return b.queueByID(uint64(id))
}

// record appends facts of the topology as one entry. The caller holds mu and
// has applied them. It returns the index to await.
func (c *catalog) record(facts ...*topologyFact) uint64 {
	if len(facts) == 0 {
		return 0
	}
	var data []byte
	for _, f := range facts {
		data = f.append(data)
	}
	return c.recordData(data)
}

// recordData is record for facts that are encoded.
func (c *catalog) recordData(data []byte) uint64 {
	c.index++
	index := c.index
	dropped := c.dropped
	c.dropped = nil
	c.logged.add(len(data))
	c.b.store.Append([]store.Entry{{Shard: topologyShard, Index: index, Data: data, Wait: c.b.opts.Sync.Wait()}}, func(err error) {
		c.promise.Lock()
		if err != nil {
			c.promise.err = err
		} else {
			c.promise.durable = index
		}
		c.promise.Unlock()
		if err == nil {
			for _, q := range dropped {
				q.drop()
			}
		}
		c.promise.cond.Broadcast()
	})
	return index
}

// await returns when entry index is durable.
func (c *catalog) await(index uint64) error {
	p := &c.promise
	p.Lock()
	defer p.Unlock()
	for p.durable < index && p.err == nil {
		p.cond.Wait()
	}
	if p.durable >= index {
		return nil
	}
	return logFailed("definition", p.err)
}

// newQueue builds the runtime of a queue from its fact.
func (c *catalog) newQueue(v *VHost, f *queueFact) *Queue {
	for int(f.Shard) > len(c.b.shards) { // a shard that never had a message
		c.b.shards = append(c.b.shards, newShard(c.b, uint32(len(c.b.shards)+1)))
	}
	q := &Queue{
		ID: f.ID, Name: string(f.Name), Durable: true, declared: true, AutoDelete: f.AutoDelete, Args: f.table(), Declared: f.Policy,
		vhost: v, shard: c.b.shards[f.Shard-1], state: &queue.State{},
	}
	q.implicit.Store(f.Implicit)
	return q
}

// add makes the queue known to routing; its shard knows it already.
func (c *catalog) add(q *Queue) {
	c.keep(q)
	q.vhost.queues.Add(1)
	if q.Declared.ConsumeAfter {
		q.vhost.orderOn(q)
	}
	q.vhost.table.Store(q.vhost.table.Load().AddQueue(q.Name, routing.QueueID(q.ID)))
}

// keep puts the queue on the list of all queues.
func (c *catalog) keep(q *Queue) {
	c.queues.Store(q.ID, q)
	c.b.queueCount.Add(1)
}

// remove takes the queue and its bindings out of routing. mu is held.
func (c *catalog) remove(q *Queue) []routing.Binding {
	t, removed := q.vhost.table.Load().RemoveQueue(q.Name, routing.QueueID(q.ID))
	q.vhost.table.Store(t)
	if c.forget(q.ID) {
		q.vhost.queues.Add(-1)
	}
	return removed
}

// forget takes the queue off the list of all queues, and tells whether it was there.
func (c *catalog) forget(id uint64) bool {
	_, had := c.queues.LoadAndDelete(id)
	if had {
		c.b.queueCount.Add(-1)
	}
	return had
}

// sweep deletes the auto-delete exchanges among the sources of removed
// bindings that have none left, and returns the facts to record. mu is held.
func (c *catalog) sweep(v *VHost, removed []routing.Binding) (facts []*topologyFact) {
	for _, b := range removed {
		x, ok := v.table.Load().Exchange(b.Source)
		if ok && x.Spec.AutoDelete && x.BindingCount() == 0 {
			facts = append(facts, c.deleteExchange(v, x)...)
		}
	}
	return facts
}

// deleteExchange takes an exchange and its bindings out of routing, and what
// goes with them; it returns the facts to record. mu is held.
func (c *catalog) deleteExchange(v *VHost, x *routing.Exchange) (facts []*topologyFact) {
	t, removed, err := v.table.Load().DeleteExchange(x.Spec.Name)
	if err != nil {
		return nil
	}
	v.table.Store(t)
	c.dropRelay(x)
	if x.Spec.Durable {
		facts = append(facts, &topologyFact{VHost: v.Name, Delete: true, Exchange: &exchangeFact{Name: name(x.Spec.Name)}})
	}
	return append(facts, c.sweep(v, removed)...)
}

// placeFor places a new queue. All whose messages wait for each other are on one shard: that of the newest of them, or one chosen by the name of
// the virtual host. mu is held.
func (c *catalog) placeFor(v *VHost, p *QueuePolicy) *shard {
	if !p.ConsumeAfter {
		return c.shardFor()
	}
	if shards := v.orderedOn(); len(shards) > 0 {
		return shards[len(shards)-1]
	}
	sum := fnv.New32a()
	sum.Write([]byte(v.Name))
	return c.b.shards[sum.Sum32()%uint32(len(c.b.shards))]
}

// shardFor places a new queue: the shards take turns.
func (c *catalog) shardFor() *shard { return c.b.shards[int(c.nextQueue)%len(c.b.shards)] }

func encodeArgs(t message.Table) []byte {
	if len(t) == 0 {
		return nil
	}
	return message.AppendTable(nil, t)
}
