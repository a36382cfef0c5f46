package broker

import (
	"hash/fnv"
	"sync"

	"fiveways.dev/fiveways/internal/authn"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/definitions"
	"fiveways.dev/fiveways/internal/throttle"
)

// newDefinitions gives the broker empty definitions.
func (b *Broker) newDefinitions() {
	b.set.Catalog = catalog.New(hooks{b}, catalog.Options{Conditions: b.opts.Conditions, Policies: b.opts.Policies, Delay: forward.Delay})
	b.journal = definitions.NewJournal(b.set.Catalog, b.set.Log, b.opts.Sync.Wait())
	b.Checker = authn.NewChecker(b.set.Catalog)
	b.Admin = definitions.NewAdmin(b.journal, b.Checker, hooks{b})
}

// hooks applies changes of the definitions to sessions and shards. It implements catalog.Engine and
// definitions.Engine.
type hooks struct{ b *Broker }

func (h hooks) NewVHost() *catalog.VHost {
	return h.b.set.NewVHost()
}

func (h hooks) NewQueue() *catalog.Queue {
	return shard.NewQueue()
}

// Build creates the shard's part of a queue, which holds the messages.
func (h hooks) Build(def *catalog.Queue) {
	h.b.set.Build(def)
}

// Place chooses the shards in turn. Queues of a virtual host whose messages wait for each other are
// all on one shard: that of the newest of them, or one chosen by the virtual host's name.
func (h hooks) Place(def *catalog.VHost, id uint64, p *catalog.QueuePolicy) uint32 {
	shards := h.b.set.All
	if !p.ConsumeAfter {
		return shards[int(id)%len(shards)].ID
	}
	if on := shard.VHostOf(def).OrderedOn(); len(on) > 0 {
		return on[len(on)-1].ID
	}
	sum := fnv.New32a()
	sum.Write([]byte(def.Name))
	return shards[sum.Sum32()%uint32(len(shards))].ID
}

// Added and Removed handle changes read from the log. A session reports its own changes to the
// shards itself.
func (h hooks) Added(def *catalog.Queue) {
	q := shard.QueueOf(def)
	q.EnterVHost()
	if h.b.following {
		q.Home().Follow(q)
	}
}

func (h hooks) Removed(def *catalog.Queue) {
	if h.b.following {
		q := shard.QueueOf(def)
		q.Home().Unfollow(q)
	}
}

func (h hooks) LimitVHost(v *catalog.VHost, limits catalog.Limits) {
	h.b.setLimits(shard.VHostOf(v).Rate(), limits)
}

// LimitUser sets the rates of a user for all its sessions.
func (h hooks) LimitUser(user string, limits catalog.Limits) {
	l, _ := h.b.userRates.LoadOrStore(user, &throttle.Limit{})
	h.b.setLimits(l.(*throttle.Limit), limits)
}

// DropUser ends the waits of sessions for the rates of a deleted user.
func (h hooks) DropUser(user string) {
	if l, ok := h.b.userRates.LoadAndDelete(user); ok {
		l.(*throttle.Limit).EndUser()
	}
}

// Expire, LetGo, PassOn and AfterDeletion implement Definer.
func (h hooks) Expire(q *shard.Queue)             { go h.b.expireQueue(q) }
func (h hooks) LetGo(q *shard.Queue)              { h.b.removals.add(q) }
func (h hooks) PassOn(q *shard.Queue, o shard.Op) { go h.b.passOn(q, o) }

func (h hooks) AfterDeletion(to shardlog.Confirmer) shardlog.Confirmer { return afterDeletion{h.b, to} }

// afterDeletion delays the confirm of a message that was lost with its queue until the deletion is
// durable.
type afterDeletion struct {
	b  *Broker
	to shardlog.Confirmer
}

// Confirmed implements shardlog.Confirmer.
func (a afterDeletion) Confirmed(from, to uint64, ok bool) {
	go func() { a.to.Confirmed(from, to, ok && a.b.journal.AwaitLast() == nil) }()
}

func (h hooks) TableChanged() { h.b.set.TableChanged() }

func (h hooks) EndSessions(user string, v *catalog.VHost, reason error) {
	h.b.sessions.evict(reason, func(s *Session) bool {
		return (user == "" || s.User == user) && (v == nil || &s.vhost.VHost == v)
	})
}

func (h hooks) DropQueues(queues []*catalog.Queue) error { return h.b.dropAll(queues) }

func (h hooks) Enforce(v *catalog.VHost) *sync.WaitGroup { return h.b.enforce(v) }

func (h hooks) Tapped(v *catalog.VHost) bool { return shard.VHostOf(v).Tapped() }

func (b *Broker) vhost(name string) (*shard.VHost, bool) {
	v, ok := b.set.Catalog.VHost(name)
	if !ok {
		return nil, false
	}
	return shard.VHostOf(v), true
}

// findVHost returns a virtual host, or nil if it was deleted.
func (b *Broker) findVHost(id catalog.VHostID) *shard.VHost {
	if v, ok := b.vhost(id.Name); ok && v.Made == id.Made {
		return v
	}
	return nil
}

// dropAll drops queues whose deletion is durable. Errors: ErrClosed.
func (b *Broker) dropAll(queues []*catalog.Queue) error {
	perShard := map[*shard.Shard][]*shard.Queue{}
	for _, def := range queues {
		q := shard.QueueOf(def)
		perShard[q.Home()] = append(perShard[q.Home()], q)
	}
	for sh, queues := range perShard {
		err := sh.Call(func() {
			for _, q := range queues {
				sh.DropNow(q)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// enforce applies changed policies of a virtual host to its queues. The caller holds the lock of
// the journal, and has appended the change to the log before anything that follows from it. The
// result is done once the shards of the queues have applied the change.
func (b *Broker) enforce(v *catalog.VHost) *sync.WaitGroup {
	v.Compile()
	type governed struct {
		q *shard.Queue
		r *catalog.Ruling
	}
	rulings := map[*shard.Shard][]governed{}
	for _, id := range v.Table().Queues() {
		if q, ok := b.set.QueueByID(uint64(id)); ok {
			rulings[q.Home()] = append(rulings[q.Home()], governed{q, q.Ruled()})
		}
	}
	var applied sync.WaitGroup
	for sh, rulings := range rulings {
		applied.Add(1)
		sent := sh.Post(func() {
			defer applied.Done()
			for _, g := range rulings {
				sh.Govern(g.q, g.r)
			}
		})
		if !sent { // the broker is closed
			applied.Done()
		}
	}
	return &applied
}
