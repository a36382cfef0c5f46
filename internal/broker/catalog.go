package broker

import (
	"hash/fnv"
	"sync"

	"fiveways/internal/authn"
	"fiveways/internal/core/catalog"
	"fiveways/internal/core/forward"
	"fiveways/internal/core/routing"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/definitions"
	"fiveways/internal/throttle"
)

// newDefinitions gives the broker the definitions of an empty data folder.
func (b *Broker) newDefinitions() {
	b.catalog = catalog.New(hooks{b}, catalog.Options{Conditions: b.opts.Conditions, Policies: b.opts.Policies, Delay: forward.Delay})
	b.journal = definitions.NewJournal(b.catalog, b.wal, b.opts.Sync.Wait())
	b.Checker = authn.NewChecker(b.catalog)
	b.Admin = definitions.NewAdmin(b.journal, b.Checker, hooks{b})
}

// hooks applies changes of the definitions to sessions and shards. It implements catalog.Engine and
// definitions.Engine.
type hooks struct{ b *Broker }

func (h hooks) NewVHost() *catalog.VHost {
	v := &VHost{b: h.b}
	v.Runtime = v
	return &v.VHost
}

func (h hooks) NewQueue() *catalog.Queue {
	q := &Queue{}
	q.Runtime = q
	return &q.Queue
}

// Build makes the part of a queue that holds messages.
func (h hooks) Build(def *catalog.Queue) {
	b, q := h.b, queueOf(def)
	for int(q.Shard) > len(b.shards) { // a shard without entries in the log
		b.shards = append(b.shards, newShard(b, uint32(len(b.shards)+1)))
	}
	q.vhost, q.shard, q.relay = vhostOf(q.In), b.shards[q.Shard-1], q.Relay
	if q.Owner != nil {
		q.owner = q.Owner.(*Session)
	}
	q.setContent(shardstate.NewQueue(q.ID, q.Durable))
	q.rule(q.Ruled())
}

// Place chooses a shard in turn. Queues of a virtual host whose messages wait for each other are on
// one shard: that of the newest of them, or one chosen by the name of the virtual host.
func (h hooks) Place(def *catalog.VHost, id uint64, p *QueuePolicy) uint32 {
	shards := h.b.shards
	if !p.ConsumeAfter {
		return shards[int(id)%len(shards)].id
	}
	if on := vhostOf(def).orderedOn(); len(on) > 0 {
		return on[len(on)-1].id
	}
	sum := fnv.New32a()
	sum.Write([]byte(def.Name))
	return shards[sum.Sum32()%uint32(len(shards))].id
}

func (h hooks) Added(def *catalog.Queue) {
	if q := queueOf(def); q.Declared.ConsumeAfter {
		q.vhost.orderOn(q)
	}
}

func (h hooks) LimitVHost(v *catalog.VHost, limits Limits) {
	h.b.setLimits(&vhostOf(v).rate, limits)
}

// LimitUser sets the rates of a user, for all its sessions.
func (h hooks) LimitUser(user string, limits Limits) {
	l, _ := h.b.userRates.LoadOrStore(user, &throttle.Limit{})
	h.b.setLimits(l.(*throttle.Limit), limits)
}

// DropUser ends the waits of sessions for the rates of a user that was deleted.
func (h hooks) DropUser(user string) {
	if l, ok := h.b.userRates.LoadAndDelete(user); ok {
		h.b.setLimits(l.(*throttle.Limit), nil)
	}
}

func (h hooks) TableChanged() { h.b.tableChanged() }

func (h hooks) EndSessions(user string, v *catalog.VHost, reason error) {
	h.b.sessions.evict(reason, func(s *Session) bool {
		return (user == "" || s.User == user) && (v == nil || &s.vhost.VHost == v)
	})
}

func (h hooks) DropQueues(queues []*catalog.Queue) error { return h.b.dropAll(queues) }

func (h hooks) Enforce(v *catalog.VHost) *sync.WaitGroup { return h.b.enforce(v) }

func (h hooks) Tapped(v *catalog.VHost) bool { return vhostOf(v).tapped.Load() }

// queueOf and vhostOf return the broker's part of a definition.
func queueOf(def *catalog.Queue) *Queue { return def.Runtime.(*Queue) }
func vhostOf(def *catalog.VHost) *VHost { return def.Runtime.(*VHost) }

func (b *Broker) vhost(name string) (*VHost, bool) {
	v, ok := b.catalog.VHost(name)
	if !ok {
		return nil, false
	}
	return vhostOf(v), true
}

// findVHost returns a virtual host, nil when it was deleted.
func (b *Broker) findVHost(id VHostID) *VHost {
	if v, ok := b.vhost(id.Name); ok && v.Made == id.Made {
		return v
	}
	return nil
}

func (b *Broker) queueByID(id uint64) (*Queue, bool) {
	q, ok := b.catalog.Queue(id)
	if !ok {
		return nil, false
	}
	return queueOf(q), true
}

func (v *VHost) queue(name string) (*Queue, bool) { return v.b.queueIn(v.Table(), name) }

// queueIn returns the queue with a name in a routing table.
func (b *Broker) queueIn(t *routing.Table, name string) (*Queue, bool) {
	id, ok := t.Queue(name)
	if !ok {
		return nil, false
	}
	return b.queueByID(uint64(id))
}

// relayQueue returns the relay of the exchange, nil when it has none.
func (b *Broker) relayQueue(x *routing.Exchange) *Queue {
	if q := b.catalog.RelayOf(x); q != nil {
		return queueOf(q)
	}
	return nil
}

// dropAll drops queues whose deletion is durable. Errors: ErrClosed.
func (b *Broker) dropAll(queues []*catalog.Queue) error {
	perShard := map[*shard][]*Queue{}
	for _, def := range queues {
		q := queueOf(def)
		perShard[q.shard] = append(perShard[q.shard], q)
	}
	for sh, queues := range perShard {
		err := sh.call(func() {
			for _, q := range queues {
				_, bodies, _ := sh.drop(q, dropWhen{}) // without a condition it cannot fail
				b.store.ReleaseRuns(sh.id, bodies)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
