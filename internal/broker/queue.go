package broker

import (
	"slices"
	"strings"
	"sync/atomic"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/dedup"
	"fiveways/internal/core/dependency"
	"fiveways/internal/core/dispatch"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/storage/store"
	"fiveways/internal/throttle"
)

// Queue is a declared queue. Its first fields never change; the rest belongs to
// its shard.
type Queue struct {
	catalog.Queue // its definition
	vhost         *VHost
	shard         *shard
	relay         *catalog.Relay // nil unless the queue belongs to an exchange
	owner         *Session       // of an exclusive queue
	pace          pace           // with rate, here: sessions read both beside the shard, which writes what is below
	rate          throttle.Limit // of what sessions publish
	created       uint64         // index of the topology entry that declared it
	explicitAt    atomic.Uint64  // index of the topology entry that made it one that stays, 0 none

	ruling  atomic.Pointer[Ruling] // nil: what was declared counts; replaced by the shard, read by all
	promise store.Wait             // what a publisher confirm waits for

	content       *shardstate.Queue // what the log knows of it; changed by the shard's recorder alone
	state         *queue.Deliveries // of content.State
	consumers     dispatch.Consumers
	selective     *dispatch.Selective // nil: any message may go to any consumer
	selection     selection           // its source
	after         *dependency.Member  // nil: no message waits for another
	reader        *store.Reader       // read-ahead over the log, while there is a backlog
	scratchReader *store.Reader
	early         *early                   // messages that do not stand where they came; nil when there are none
	loanWaiters   LoanWaiters              // nil: nothing waits for a message that is lent
	waiting       row                      // calls of Session.Await
	waking        bool                     // the row is to be served
	wakeAll       bool                     // also when nothing is ready
	feature       atomic.Pointer[attached] // stored by the shard, read by all; nil: it has none
	gone          bool
	removed       bool  // for being idle
	seen          look  // of an implicit queue
	watched       int64 // unix ms of the last Look
	once          bool  // it takes one message per key; relays look at that elsewhere
	marked        bool
	timer         int   // place in the shard's timers + 1, 0 = not there
	wakeAt        int64 // unix ms
	lastUsed      int64 // unix ms: for Policy.Expires
	expiring      bool  // its deletion for lack of use is under way
	shrinking     bool  // it has more than its limit, and had to stop dropping
	hot           int64 // memory held, as last counted
	cooledTo      int64 // what was to be kept when messages were last packed, and
	cooled        int64 // what stayed

	dead *deadletter.Backlog // nil when no dead letter waits here

	serverEntry uint64 // newest entry with a persistent message of the server; 0: there was none

	memory *dedup.Memory // keys that are not in the log; nil when there are none

	counts  Counts
	probe   timed
	active  int64  // unix ms: something was done with it
	changes uint64 // how often it was marked: with what was handed out, the version of what it holds
}

// VHost is the name of the queue's virtual host.
func (q *Queue) VHost() string { return q.vhost.Name }

// Fail is an error of the engine about the queue.
func (q *Queue) Fail(err error) error {
	return &Error{Err: err, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
}

// used restarts the time after which an unused queue goes.
func (q *Queue) used(now int64) { q.lastUsed = now }

// VHost is one virtual host: a name space of exchanges and queues.
type VHost struct {
	catalog.VHost // its definitions

	b       *Broker
	traffic routing.Traffic // of all its exchanges, also of those that are gone
	rate    throttle.Limit
	scan    atomic.Pointer[scanOrder] // nil before the first Finder.QueuesFrom
	tapped  atomic.Bool               // SetTapped

	ordered atomic.Pointer[[]*shard] // where queues with an order are or were, that of the newest last; replaced as a whole, by the goroutine that changes the definitions
	newest  uint64                   // id of that queue, for the same
}

// orderedOn are the shards on which queues with an order (QueuePolicy.ConsumeAfter) are or were,
// that of the newest last.
func (v *VHost) orderedOn() []*shard {
	if shards := v.ordered.Load(); shards != nil {
		return *shards
	}
	return nil
}

// orderOn notes the shard of a queue with an order. It is for the goroutine that changes the
// definitions.
func (v *VHost) orderOn(q *Queue) {
	have := v.orderedOn()
	shards := slices.DeleteFunc(slices.Clone(have), func(sh *shard) bool { return sh == q.shard })
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

// setContent gives the queue what it holds.
func (q *Queue) setContent(c *shardstate.Queue) { q.content, q.state = c, &c.State.Deliveries }

// register makes the shard know the queue.
func (sh *shard) register(q *Queue) {
	q.lastUsed = sh.b.nowMillis()
	q.promise = syncWait(q.Policy().Sync, sh.b.opts.Sync)
	q.once = q.Policy().Deduplicate && q.relay == nil
	sh.queues[q.ID] = q
	q.consumers.Init(consumed{q})
	if q.Policy().SingleActive {
		q.consumers.Single(q.Policy().ActiveByRank)
	}
	if q.Policy().GroupHeader != "" {
		q.selective = q.newSelective()
	}
	if q.Policy().ConsumeAfter {
		sh.enterOrder(q)
	}
	if q.Durable {
		if q.Policy().Deduplicate {
			q.content.Keys = newMemory(q.Policy())
		}
		sh.machine.Add(q.content)
	}
	if q.Policy().Expires > 0 {
		sh.mark(q)
	}
	if q.Implicit() {
		sh.implicits.add(q, q.lastUsed)
	}
}

// dropWhen are the conditions of a deletion.
type dropWhen struct{ unused, empty, expired bool }

// drop ends a queue with all it holds, unless a condition forbids it. The
// bodies are released when the caller knows the deletion to be durable.
func (sh *shard) drop(q *Queue, when dropWhen) (messages int, bodies []store.Run, err error) {
	fail := func(e error) (int, []store.Run, error) {
		return 0, nil, &Error{Err: e, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	sh.catchUpConsumers(q)
	switch {
	case q.gone:
		return 0, nil, nil
	case when.unused && q.consumers.Len() > 0:
		return fail(ErrInUse)
	case when.empty && q.state.Ready() > 0:
		return fail(ErrNotEmpty)
	case when.expired:
		q.expiring = false
		if at, ok := q.expiry(); !ok || at > sh.now { // used meanwhile
			sh.mark(q)
			return fail(ErrInUse)
		}
	}
	q.gone = true
	sh.retire(q)
	sh.implicits.remove(q)
	q.dismissLoanWaiters()
	q.dismissWaiting()
	if q.after != nil {
		sh.leaveOrder(q)
	}
	q.early = nil
	messages = q.state.Ready()
	var ended []*Consumer
	for _, c := range q.consumers.All() {
		ended = append(ended, ConsumerOf(c))
	}
	slices.SortFunc(ended, func(a, b *Consumer) int { return strings.Compare(a.Tag, b.Tag) }) // not by whose turn it was
	q.consumers.Clear()
	for _, c := range ended {
		c.out.flush(sh)
		sh.leave(c)
		c.session.forget(c)
		c.session.sink.Cancelled(c)
	}
	q.state.RefsByIndex(func(index uint64, n int) { bodies = append(bodies, store.Run{Index: index, N: n}) })
	q.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
		if it.Flags&queue.Scratch != 0 {
			sh.releaseSpilled(it.Index)
		}
		return true
	})
	if q.dead != nil {
		q.dead = nil
		delete(sh.insisting, q)
		sh.deadQueues.Add(-1)
	}
	sh.closeReader(q)
	sh.count(q, 0)
	sh.timers.set(q, noTime)
	delete(sh.queues, q.ID)
	sh.machine.Drop(q.ID)
	q.setContent(shardstate.NewQueue(q.ID, q.Durable))
	q.scratchReader, q.memory, q.selective = nil, nil, nil
	q.feature.Store(nil)
	return messages, bodies, nil
}

// purge removes what is ready.
func (sh *shard) purge(q *Queue, durable func(error)) (messages int) {
	if q.gone {
		durable(nil)
		return 0
	}
	sh.catchUpConsumers(q)
	messages = sh.clear(q)
	sh.entry.waiters = append(sh.entry.waiters, durable)
	return messages
}

// forget takes the consumer off the session's list.
func (s *Session) forget(c *Consumer) {
	s.mu.Lock()
	delete(s.consumers, c)
	s.mu.Unlock()
}
