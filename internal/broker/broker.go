package broker

import (
	"cmp"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/authn"
	"fiveways.dev/fiveways/internal/broker/mailbox"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/core/tracing"
	"fiveways.dev/fiveways/internal/definitions"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// lazySync is the longest delay of an fsync for facts that no client waits for.
const lazySync = 10 * time.Millisecond

// Options configure a broker. The zero value of a field is its default.
type Options struct {
	Sync          store.SyncMode // what a promise waits for
	BatchDelay    time.Duration  // with store.SyncBatch
	SegmentBytes  int64          // of the log and of the scratch log; 64 MiB
	Shards        int            // 0: one per four cores; never fewer than the data has
	MemoryLimit   int64          // bytes of message bodies and queue indexes; 512 MiB
	DiskFreeLimit int64          // bytes that must stay free; 0: 50 MiB, negative: no limit
	// CheckpointBytes is how many bytes a shard logs between two checkpoints; 128 MiB.
	CheckpointBytes int64
	// MaxGroupBytes bounds the bytes that a transaction publishes, and an atomic group of the log;
	// shard.MaxTxBytes.
	MaxGroupBytes int
	// Conditions are the languages of binding conditions, in addition to selectors. A binding whose
	// condition does not compile, because its language is missing or has changed, matches nothing.
	Conditions routing.Conditions
	// Order returns the position that a message requests in its queue; ok is false if it requests
	// none. nil: messages stay in order of arrival.
	Order func(env message.Envelope) (at dispatch.Place, ok bool)
	// Policies turn parameters into rules; nil: there are no policies.
	Policies catalog.Policies
	// StateMachines have entries in the log in addition to the queues, each under its number
	// (statemachine.Keys, statemachine.Semaphores). A machine that is missing here accepts no
	// entries; those already in the log stay there.
	StateMachines map[uint32]statemachine.Machine
	// Traces gets the events of messages that belong to a trace; nil: no messages are traced.
	Traces tracing.Listener
	// Tap converts an event of a message in a tapped virtual host (Broker.SetTapped) into the
	// message, with its routing key, that listeners get; nil: there is no tap. It is called on any
	// goroutine and must not block.
	Tap func(*shard.Tapped) message.Envelope
	// WrapLog returns a log that the engine uses in place of its own, for example to inject faults;
	// nil: the engine uses its own.
	WrapLog func(*store.Store) shardlog.Log
	Logger  *slog.Logger
	Now     func() time.Time // time.Now
}

func (o Options) withDefaults() Options {
	if o.Shards <= 0 {
		o.Shards = max(1, runtime.GOMAXPROCS(0)/4)
	}
	if o.MemoryLimit <= 0 {
		o.MemoryLimit = 512 << 20
	}
	o.DiskFreeLimit = cmp.Or(o.DiskFreeLimit, 50<<20)
	if o.CheckpointBytes <= 0 {
		o.CheckpointBytes = 128 << 20
	}
	o.MaxGroupBytes = cmp.Or(o.MaxGroupBytes, shard.MaxTxBytes)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Broker is the engine of one node on one data directory.
type Broker struct {
	*definitions.Admin // users, virtual hosts, permissions, limits, parameters
	*authn.Checker     // logins

	opts      Options
	log       *slog.Logger
	fs        vfs.FS
	dir       string
	set       *shard.Set
	journal   *definitions.Journal // changes the catalog
	machines  statemachine.Hosts
	following bool // changes of the definitions come from the log

	alarm atomic.Pointer[Alarm]
	disks atomic.Pointer[func() []string] // WatchDisks

	removals  removals
	userRates sync.Map // user → *throttle.Limit

	sessions       sessions
	mailboxes      mailbox.Directory
	queuesDeclared atomic.Uint64
	queuesCreated  atomic.Uint64

	checkpointing sync.Mutex // serializes rounds of checkpoints
	txMu          sync.Mutex // orders transactions over several shards
	groupBytes    int        // Options.MaxGroupBytes, less in tests
	housekeeper   sync.WaitGroup
	stop          chan struct{}
	closeOnce     sync.Once
	hurry         chan struct{} // closed by Hurry
	hurryOnce     sync.Once
	closed        error
}

// Open opens the data directory, recovers its state, and starts the engine. Errors: vfs.ErrLocked
// (another process uses the directory), store.ErrCorrupt, store.ErrUnsupportedFormat (a newer
// format), store.ErrReplica (the directory of a cluster node).
func Open(fs vfs.FS, dir string, o Options) (*Broker, error) {
	o = o.withDefaults()
	st, err := store.Open(fs, dir, store.Options{
		Sync: o.Sync, BatchDelay: o.BatchDelay, LazySync: max(lazySync, o.BatchDelay), SegmentBytes: o.SegmentBytes, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	if st.Raft() != nil {
		return nil, errors.Join(store.ErrReplica, st.Close())
	}
	r, err := OpenReplica(st, fs, dir, o)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	var log shardlog.Log = st
	if o.WrapLog != nil {
		log = o.WrapLog(st)
	}
	b, err := r.Lead(log)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return b, nil
}

// newBroker returns a broker whose shards and state machines are empty, and do not run.
func newBroker(o Options, st *store.Store, fs vfs.FS, dir string) *Broker {
	b := &Broker{
		opts: o, log: o.Logger, fs: fs, dir: dir, stop: make(chan struct{}), hurry: make(chan struct{}),
		sessions: newSessions(), removals: removals{wake: make(chan struct{}, 1)},
		groupBytes: o.MaxGroupBytes,
	}
	b.newSet(st)
	b.machines = newMachines(b)
	return b
}

// start starts the goroutines.
func (b *Broker) start() {
	for _, sh := range b.set.All {
		go sh.Run()
	}
	for _, h := range b.machines {
		go h.Run()
	}
	b.housekeeper.Add(3)
	go b.remove()
	go b.watch()
	go b.checkpoints()
}

// newSet creates the shards that the options request. Recovery adds those that the data has.
func (b *Broker) newSet(st *store.Store) {
	o := &b.opts
	b.set = shard.NewSet(shard.Config{
		Store: st, Sync: o.Sync, Shards: o.Shards, MemoryLimit: o.MemoryLimit, LookBytes: max(o.MemoryLimit/4, shard.MinLookBytes),
		Order: o.Order, Traces: o.Traces, Tap: o.Tap, Logger: o.Logger, Now: o.Now, Definer: hooks{b},
	})
}

// checkpointUnlessStuck writes the last checkpoints, unless the log accepts no more writes: the
// write might wait forever for disk space, and recovery needs only the log. last counts the
// goroutine that writes them, which ends when the store is closed.
func (b *Broker) checkpointUnlessStuck(last *sync.WaitGroup) error {
	stuck := make(chan struct{})
	giveUp := sync.OnceFunc(func() { close(stuck) })
	b.set.Log.Watch(func(s store.State) {
		if s.Health != store.Healthy {
			giveUp()
		}
	})
	if b.set.Log.State().Health != store.Healthy {
		return nil
	}
	done := make(chan error, 1)
	last.Go(func() {
		b.housekeeper.Wait()
		b.awaitMachines()
		done <- b.checkpointAll(true)
	})
	select {
	case err := <-done:
		return err
	case <-stuck:
		return nil
	}
}

// Now returns the broker's time in unix ms.
func (b *Broker) Now() int64 { return b.set.NowMillis() }

// restTime bounds how long Close waits for messages in transit between shards.
const restTime = 5 * time.Second

// rest returns once no message is in transit between shards, so that none is in both places after
// the next start. It stops waiting after restTime, or when the log accepts no more writes.
func (b *Broker) rest() {
	b.set.Resting.Store(true)
	over := time.After(restTime)
	for quiet := 0; quiet < 2 && b.set.Log.State().Health == store.Healthy; quiet++ {
		for _, sh := range b.set.All {
			moving := make(chan bool, 1)
			sh.Post(func() { moving <- sh.Moving() })
			select {
			case m := <-moving:
				if m {
					quiet = -1
				}
			case <-over:
				return
			}
		}
		if quiet < 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// Close stops the engine: the shards complete all accepted operations and make them durable, a
// clean checkpoint is written, and the directory is unlocked. Sessions must be closed before. Close
// may be called twice.
func (b *Broker) Close() error {
	b.closeOnce.Do(func() {
		b.halt()
		var last sync.WaitGroup
		final := b.checkpointUnlessStuck(&last)
		b.closed = errors.Join(final, b.set.Store.Close(), b.set.Scratch.Close())
		b.join()
		last.Wait() // another process may open the directory now: this one must not change a file in it
	})
	return b.closed
}

// halt lets the shards complete their work, and rejects later operations.
func (b *Broker) halt() {
	close(b.stop)
	b.Hurry()
	b.set.Flow.Close()
	b.rest()
	for _, sh := range b.set.All {
		sh.Stop()
	}
	for _, h := range b.machines {
		h.Close()
	}
}

// join returns once the goroutines have ended. Afterwards the log accepts nothing.
func (b *Broker) join() {
	for _, h := range b.machines {
		h.End()
	}
	b.housekeeper.Wait()
	b.awaitMachines()
}

// Hash returns a hash of the durable state. Errors: ErrClosed.
func (b *Broker) Hash() (sum uint64, err error) {
	for _, part := range b.Parts() {
		err = errors.Join(err, b.sum(part, none, false, func(here uint64, _ Place) { sum += here }))
	}
	return sum, err
}

// Parts returns the parts of the durable state, by their numbers in the log.
func (b *Broker) Parts() (parts []uint32) {
	for _, h := range b.machines {
		parts = append(parts, h.Shard())
	}
	for _, sh := range b.set.All {
		parts = append(parts, sh.ID)
	}
	return append(parts, definitions.Shard)
}

const none = math.MaxUint64 // no entry of a part

// Place is the position of a part of the state in the log.
type Place struct {
	Last, Definitions uint64 // indexes of the last entries of the part and of the definitions
}

// Sum calls fn with the hash of a part before the part gets another entry. It does not call fn if
// but is the last entry, or while the state is ahead of or behind the log. Errors: ErrClosed.
func (b *Broker) Sum(part uint32, but uint64, fn func(sum uint64, at Place)) error {
	return b.sum(part, but, true, fn)
}

// sum implements Sum. Without strict it also calls fn while a shard is creating or dropping a
// queue.
func (b *Broker) sum(part uint32, but uint64, strict bool, fn func(sum uint64, at Place)) error {
	sh := b.set.Of(part)
	if sh == nil {
		beside := b.machines.Of(part).Sum
		if part == definitions.Shard {
			beside = b.journal.Sum
		}
		beside(but, func(sum, last uint64) { fn(sum, Place{last, 0}) })
		return nil
	}
	b.journal.Lock()
	defer b.journal.Unlock()
	queues, after := b.set.DurableOn(sh), b.journal.Last()
	here := func() {
		if !strict || sh.HasJust(queues) {
			sh.Sum(but, func(sum, last uint64) { fn(sum, Place{last, after}) })
		}
	}
	if b.set.Log == nil { // a replica: its shards do not run
		here()
		return nil
	}
	return sh.Call(here)
}

// Stats are counters of the engine since its start.
type Stats struct {
	Queues                                       int
	Memory                                       int64 // bytes held by messages of queues
	Unreadable                                   int64 // messages set aside because reading them from disk failed
	DeadLettered                                 int64
	SlowHashes                                   int64  // slow password hashes computed; successful logins are cached
	Duplicates                                   int64  // messages dropped because their key was remembered
	QueuesDeclared, QueuesCreated, QueuesDeleted uint64 // declarations, queues created by them, queues deleted
	Log                                          store.Stats
	LogState                                     store.State
}

// Stats returns the counters.
func (b *Broker) Stats() Stats {
	return Stats{
		Queues: int(b.set.Catalog.QueueCount()), Memory: b.set.Memory.Load(), Unreadable: b.set.Counters.Unreadable.Load(),
		DeadLettered: b.set.Counters.DeadLettered.Load(), SlowHashes: b.SlowHashes(), Duplicates: b.set.Counters.Duplicates.Load(),
		QueuesDeclared: b.queuesDeclared.Load(), QueuesCreated: b.queuesCreated.Load(), QueuesDeleted: b.set.Counters.QueuesDeleted.Load(),
		Log: b.set.Store.Stats(), LogState: b.set.Log.State(),
	}
}

// Go runs fn on a goroutine. Close closes stop and then waits for the goroutine.
func (b *Broker) Go(fn func(stop <-chan struct{})) {
	b.housekeeper.Go(func() { fn(b.stop) })
}
