package broker

import (
	"slices"
	"strings"
	"sync/atomic"

	"fiveways/internal/core/dedup"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
	"fiveways/internal/core/stream"
	"fiveways/internal/storage/store"
)

// Queue is a declared queue. Its first fields never change; the rest belongs to
// its shard.
type Queue struct {
	ID         uint64 // never used again
	Name       string
	Durable    bool // exclusive queues never are: they go with their session
	AutoDelete bool
	Args       message.Table
	Declared   QueuePolicy // what its declaration said; Policy is what counts
	declared   bool        // the durable flag as the client gave it
	vhost      *VHost
	shard      *shard
	relay      *relay        // nil unless the queue belongs to an exchange
	owner      *Session      // of an exclusive queue
	created    uint64        // index of the topology entry that declared it
	implicit   atomic.Bool   // a command made it by the way: it goes when nobody needs it
	explicitAt atomic.Uint64 // index of the topology entry that made it one that stays, 0 none

	ruling  atomic.Pointer[Ruling] // nil: what was declared counts; replaced by the shard, read by all
	promise store.Wait             // what a publisher confirm waits for

	state         *queue.State
	consumers     consumers
	granted       []*share       // with what a shared limit has left to them, until the next look at the queue
	picky         *picky         // nil: any message may go to any consumer
	after         *after         // nil: no message waits for another
	stream        *stream.Stream // nil unless the queue is a stream
	reader        *store.Reader  // read-ahead over the log, while there is a backlog
	scratchReader *store.Reader
	early         *early                    // messages that do not stand where they came; nil when there are none
	takers        map[queue.Handle][]*taker // who waits for a message that is lent; nil when nobody does
	waiting       row                       // who waits for anything at all; see waiter
	waking        bool                      // they are to be looked at
	wakeAll       bool                      // though nothing may be ready
	jobs          *jobs                     // nil: it is not used for jobs
	jobsOpening   opening
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

	dead *deadBacklog // nil when no dead letter waits here

	pace pace
	rate rateLimit // of what sessions publish

	memory *dedup.Memory // keys that are not in the log; nil when there are none

	counts  Counts
	probe   timed
	ages    ages
	active  int64  // unix ms: something was done with it
	changes uint64 // how often it was marked: with what was handed out, the version of what it holds
}

// used restarts the time after which an unused queue goes.
func (q *Queue) used(now int64) { q.lastUsed = now }

// VHost is one virtual host: a name space of exchanges and queues.
type VHost struct {
	Name    string
	made    uint64 // VHostID.Made
	b       *Broker
	table   tableCell
	traffic routing.Traffic // of all its exchanges, also of those that are gone
	queues  atomic.Int64    // declared now

	info vhostFact // guarded by rules.mu
	rate rateLimit

	scan atomic.Pointer[scanOrder] // nil before the first Session.Scan

	parameters parameters
	policies   atomic.Pointer[Rules] // nil: there are none; replaced under catalog.mu
	version    atomic.Uint64         // another one after each change of definitions and parameters

	gone bool // guarded by catalog.mu: it was deleted

	ordered atomic.Pointer[[]*shard] // where queues with an order are or were, that of the newest last; replaced as a whole under catalog.mu
	newest  uint64                   // guarded by catalog.mu: id of that queue
}

// orderedOn are the shards on which queues with an order (QueuePolicy.ConsumeAfter) are or were, that of the newest last.
func (v *VHost) orderedOn() []*shard {
	if shards := v.ordered.Load(); shards != nil {
		return *shards
	}
	return nil
}

// orderOn notes the shard of a queue with an order. catalog.mu is held.
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

// register makes the shard know the queue.
func (sh *shard) register(q *Queue) {
	q.lastUsed = sh.b.nowMillis()
	q.promise = q.Policy().Sync.wait(sh.b.opts.Sync)
	q.once = q.Policy().Deduplicate && q.relay == nil
	sh.queues[q.ID] = q
	if q.Policy().SingleActive {
		q.consumers.single = &single{byRank: q.Policy().ActiveByRank}
	}
	if q.Policy().GroupHeader != "" {
		q.picky = newPicky(q.Policy())
	}
	if q.Policy().ConsumeAfter {
		sh.enterOrder(q)
	}
	if q.Durable {
		sh.m.queues[q.ID] = q.state
		if q.Policy().Deduplicate {
			sh.m.memories[q.ID] = newMemory(q.Policy())
		}
	}
	if q.Policy().Expires > 0 {
		sh.mark(q)
	}
	if q.implicit.Load() {
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
	switch {
	case q.gone:
		return 0, nil, nil
	case when.unused && len(q.consumers.list) > 0:
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
	q.dismissTakers()
	q.dismissWaiting()
	if q.after != nil {
		sh.leaveOrder(q)
	}
	q.early = nil
	messages = q.state.Ready()
	ended := slices.SortedFunc(slices.Values(q.consumers.list), func(a, b *Consumer) int { return strings.Compare(a.Tag, b.Tag) })
	for _, c := range ended { // in an order that does not depend on whose turn it was
		c.out.flush(sh)
		c.gone = true
		sh.leave(c)
		c.session.forget(c)
		c.session.sink.Cancelled(c)
	}
	q.consumers.clear()
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
	delete(sh.m.queues, q.ID)
	delete(sh.m.memories, q.ID)
	delete(sh.m.streams, q.ID)
	delete(sh.m.books, q.ID)
	q.state, q.scratchReader, q.memory, q.picky, q.stream, q.jobs = &queue.State{}, nil, nil, nil, nil, nil
	return messages, bodies, nil
}

// purge removes what is ready.
func (sh *shard) purge(q *Queue, durable func(error)) (messages int) {
	if q.gone {
		durable(nil)
		return 0
	}
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
