package shard

import (
	"log/slog"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker/backpressure"
	"fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/histogram"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/core/tracing"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/throttle"
)

// Config is what the shards of one broker need from it.
type Config struct {
	Store       *store.Store   // they read from it
	Sync        store.SyncMode // what a promise waits for
	Shards      int
	MemoryLimit int64                                                   // bytes of messages
	LookBytes   int64                                                   // see Context.LookBytes
	Order       func(env message.Envelope) (at dispatch.Place, ok bool) // see broker.Options, also for the next two
	Traces      tracing.Listener
	Tap         func(*Tapped) message.Envelope
	Logger      *slog.Logger
	Now         func() time.Time
	Definer     Definer
}

// Definer changes the definitions on behalf of a shard. Its methods do not block.
type Definer interface {
	// Expire deletes a queue that has been unused for its expiry time.
	Expire(q *Queue)
	// LetGo removes an implicit queue, if it is still idle.
	LetGo(q *Queue)
	// PassOn republishes a message whose queue was removed as idle before the message arrived, to a
	// new queue of that name.
	PassOn(q *Queue, o Op)
	// AfterDeletion returns a Confirmer for a message that was lost with its queue. It calls
	// another one once all deletions begun so far are durable.
	AfterDeletion(shardlog.Confirmer) shardlog.Confirmer
}

// Set is the shards of one broker and their shared state.
type Set struct {
	Config
	Catalog *catalog.State // nil until the definitions exist
	Log     shardlog.Log   // the shards append to it; nil until Lead
	Scratch *store.Store   // for transient messages that do not fit into memory; nil until Lead
	All     []*Shard       // shard i+1

	Flow     *backpressure.Gate
	Logs     shardlog.Shared
	Bodies   bodies.Shared
	Memory   atomic.Int64 // bytes held by all queues' messages
	Counters counters
	Waited   histogram.Histogram // ms that messages waited in queues
	Resting  atomic.Bool         // no message may start to move to another queue
	Alarmed  atomic.Bool         // publishers are blocked by an alarm, not by flow
	Rated    atomic.Bool         // a rate limit is set, or was
}

// counters are totals of all shards since the start.
type counters struct {
	Unreadable, DeadLettered, Duplicates atomic.Int64
	QueuesDeleted                        atomic.Uint64
}

// NewSet returns the shards of a broker. They are empty and do not run.
func NewSet(c Config) *Set {
	s := &Set{Config: c}
	s.Flow = backpressure.NewGate(s.OverMark)
	s.Logs.Store, s.Logs.Sync, s.Logs.Relieve = c.Store, c.Sync, s.Flow.Relieve
	s.Bodies.Log, s.Bodies.Moved = c.Store, s.use
	s.Grow(c.Shards)
	return s
}

// use adds to the bytes of memory in use. A negative number frees memory.
func (s *Set) use(bytes int64) {
	s.Memory.Add(bytes)
	if bytes < 0 {
		s.Flow.Relieve()
	}
}

// flowBytes is how much may wait to be written to the log before publishers are blocked.
const flowBytes = 16 << 20

// OverMark reports whether publishers must wait.
func (s *Set) OverMark() bool {
	if s.Alarmed.Load() {
		return false
	}
	return s.Log.Pending() >= flowBytes || s.Memory.Load() > s.MemoryLimit
}

// Lead makes the shards append to a log, and spill to a scratch log, from now on.
func (s *Set) Lead(log shardlog.Log, scratch *store.Store) {
	s.Log, s.Scratch = log, scratch
	s.Logs.Log, s.Bodies.Scratch = log, scratch
}

// Grow adds shards until there are n.
func (s *Set) Grow(n int) {
	for id := len(s.All) + 1; id <= n; id++ {
		s.All = append(s.All, newShard(s, uint32(id)))
	}
}

// Of returns the shard with a number, or nil.
func (s *Set) Of(number uint32) *Shard {
	if number == 0 || int(number) > len(s.All) {
		return nil
	}
	return s.All[number-1]
}

// DurableOn returns the ids of a shard's durable queues. The caller must hold the definitions'
// lock.
func (s *Set) DurableOn(sh *Shard) (ids []uint64) {
	s.Catalog.Queues(func(def *catalog.Queue) {
		if q := QueueOf(def); q.Durable && q.Home() == sh {
			ids = append(ids, q.ID)
		}
	})
	return ids
}

// NowMillis returns the broker's time, unix ms.
func (s *Set) NowMillis() int64 { return s.Now().UnixMilli() }

// QueueByID finds a queue.
func (s *Set) QueueByID(id uint64) (*Queue, bool) {
	q, ok := s.Catalog.Queue(id)
	if !ok {
		return nil, false
	}
	return QueueOf(q), true
}

// QueueIn returns the queue with a name in a routing table.
func (s *Set) QueueIn(t *routing.Table, name string) (*Queue, bool) {
	id, ok := t.Queue(name)
	if !ok {
		return nil, false
	}
	return s.QueueByID(uint64(id))
}

// NewVHost returns a virtual host without its definition.
func (s *Set) NewVHost() *catalog.VHost {
	v := &VHost{set: s}
	v.Runtime = v
	return &v.VHost
}

// NewQueue returns a queue without its definition.
func NewQueue() *catalog.Queue {
	q := &Queue{}
	q.Runtime = q
	return &q.Queue
}

// Build creates the shard's part of a queue, which holds the messages. The shard need not exist.
func (s *Set) Build(def *catalog.Queue) {
	q := QueueOf(def)
	s.Grow(int(def.Shard))
	q.vhost, q.shard, q.buffer, q.active = VHostOf(def.In), s.All[def.Shard-1], def.Buffer, s.NowMillis()
	q.setContent(shardstate.NewQueue(def.ID, def.Durable))
	q.Rule(q.Ruled())
}

// TableChanged makes dead letters that could not be routed try again. The caller may hold the
// definitions' lock.
func (s *Set) TableChanged() {
	for _, sh := range s.All {
		if sh.deadQueues.Load() > 0 && !sh.hastening.Swap(true) {
			sh.Post(sh.hastenDead)
		}
	}
}

// SetRates sets rate limits. A negative one means none.
func (s *Set) SetRates(l *throttle.Limit, messages, bytes int64) {
	if l.Set(messages, bytes) {
		s.Rated.Store(true)
	}
}

// Commit writes what inline rounds have proposed and keeps the promises that wait for it, unless
// another goroutine is writing.
func (s *Set) Commit() {
	defer Deadly()
	s.Log.Commit()
}

// QueueOf returns the queue of a definition.
func QueueOf(def *catalog.Queue) *Queue { return def.Runtime.(*Queue) }

// VHostOf returns the virtual host of a definition.
func VHostOf(def *catalog.VHost) *VHost { return def.Runtime.(*VHost) }

// BufferQueue returns the buffer of the exchange, or nil if it has none.
func (s *Set) BufferQueue(x *routing.Exchange) *Queue {
	if q := s.Catalog.BufferOf(x); q != nil {
		return QueueOf(q)
	}
	return nil
}
