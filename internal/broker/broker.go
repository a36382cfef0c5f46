package broker

import (
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"fiveways/internal/authn"
	"fiveways/internal/core/catalog"
	"fiveways/internal/core/deadlock"
	"fiveways/internal/core/histogram"
	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
	"fiveways/internal/definitions"
	"fiveways/internal/statemachine"
	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
)

// lazySync is the longest delay of the fsync for facts that nobody waits for.
const lazySync = 10 * time.Millisecond

// noTime is later than any time, in unix ms.
const noTime = math.MaxInt64

// Options configure a broker. The zero value of a field is its default.
type Options struct {
	Sync          store.SyncMode // when a promise counts as kept
	BatchDelay    time.Duration  // with store.SyncBatch
	SegmentBytes  int64          // of the log and of the scratch log; 64 MiB
	Shards        int            // 0: one per four cores; never fewer than the data has
	MemoryLimit   int64          // bytes of message bodies and queue indexes; 512 MiB
	DiskFreeLimit int64          // bytes that must stay free; 0: 50 MiB, negative: not watched
	// CheckpointBytes of log between checkpoints of a shard; 128 MiB.
	CheckpointBytes int64
	// Conditions are the languages, beside that of selectors, in which bindings may put conditions.
	// They come with the data: a binding whose language is missing, or has changed so that it does
	// not compile, matches nothing.
	Conditions routing.Conditions
	// Order is the place in the order of a queue that a message has by itself, ok false when it
	// says none; nil: messages stand where they came.
	Order func(env message.Envelope) (at Order, ok bool)
	// Policies make rules of parameters; nil: there are no policies.
	Policies Policies
	// StateMachines have their entries in the log beside those of the queues, each under its number
	// (statemachine.Keys, statemachine.Semaphores). Of one that is not here none are taken, and
	// what the log holds of it stays as it is.
	StateMachines map[uint32]statemachine.Machine
	// Traces hears of messages that belong to a trace; nil: nobody does.
	Traces Traces
	// Tap words what happened to a message as the message that those get who listen to a tapped
	// virtual host (Broker.SetTapped), with its routing key; nil: nobody hears of it. It is called
	// on any goroutine and must not wait.
	Tap func(*Tapped) message.Envelope
	// WrapLog puts something between the engine and its log, such as one that injects faults; nil:
	// nothing.
	WrapLog func(*store.Store) Log
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
	if o.DiskFreeLimit == 0 {
		o.DiskFreeLimit = 50 << 20
	}
	if o.CheckpointBytes <= 0 {
		o.CheckpointBytes = 128 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Broker is the engine of one node on one data folder.
type Broker struct {
	*definitions.Admin // users, virtual hosts, permissions, limits, parameters
	*authn.Checker     // who logs in

	opts     Options
	log      *slog.Logger
	fs       vfs.FS
	dir      string
	store    *store.Store // reads, checkpoints and cleans the log
	wal      Log          // appends to it
	scratch  *store.Store
	catalog  *catalog.State
	journal  *definitions.Journal // changes the catalog
	machines statemachine.Hosts

	// Sessions read these with each message: nothing that changes often stands near.
	alarm atomic.Pointer[Alarm]
	rated atomic.Bool // there is a limit of a rate, or was

	removals  removals
	userRates sync.Map // user → *throttle.Limit

	shards []*shard // shard i+1

	sessions        sessions
	proposals       proposals
	flow            flow
	waits           deadlock.Detector[resource]
	claims          claims
	memory          atomic.Int64 // bytes held by all queues' messages
	scratchReleased atomic.Int64 // spilled bodies given up since scratch segments were last deleted
	mailboxes       sync.Map     // name -> *mailbox
	counters        counters
	waited          histogram.Histogram // ms that messages were in queues
	confirmed       histogram.Histogram // ns that entries with confirms took to be safe

	txMu        sync.Mutex // transactions over several shards, one order for all
	lookBytes   int64      // what one command may show or take at once, beside one message; a quarter of Options.MemoryLimit, a fetch at least; less in tests
	groupBytes  int        // a group of the log that has more takes no further commands; MaxTxBytes, less in tests
	housekeeper sync.WaitGroup
	stop        chan struct{}
	resting     atomic.Bool // no message is to begin a way to another queue
	closeOnce   sync.Once
	hurry       chan struct{} // closed by Hurry
	hurryOnce   sync.Once
	closed      error
}

type counters struct {
	unreadable, deadLettered, duplicates         atomic.Int64
	queuesDeclared, queuesCreated, queuesDeleted atomic.Uint64
}

// Open opens the data folder, recovers what it holds, and starts the engine.
// It fails on a folder in use (vfs.ErrLocked), on corruption
// (store.ErrCorrupt) and on a newer format (store.ErrUnsupportedFormat).
func Open(fs vfs.FS, dir string, o Options) (*Broker, error) {
	o = o.withDefaults()
	st, err := store.Open(fs, dir, store.Options{
		Sync: o.Sync, BatchDelay: o.BatchDelay, LazySync: max(lazySync, o.BatchDelay), SegmentBytes: o.SegmentBytes, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	scratch, err := store.Open(fs, filepath.Join(dir, "scratch"), store.Options{
		Scratch: true, SegmentBytes: o.SegmentBytes, Logger: o.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	b := &Broker{
		opts: o, log: o.Logger, fs: fs, dir: dir, store: st, wal: o.toLog(st), scratch: scratch, stop: make(chan struct{}), hurry: make(chan struct{}),
		sessions: newSessions(), removals: removals{wake: make(chan struct{}, 1)},
		groupBytes: MaxTxBytes, lookBytes: max(o.MemoryLimit/4, fetchBytes),
	}
	b.flow.over = b.overMark
	b.flow.cond = sync.NewCond(&b.flow.mu)
	b.machines = newMachines(b)
	if err := b.recover(); err != nil {
		return nil, errors.Join(err, scratch.Close(), st.Close())
	}
	for _, sh := range b.shards {
		go sh.run()
	}
	for _, h := range b.machines {
		go h.Run()
	}
	b.housekeeper.Add(3)
	go b.remove()
	go b.watch()
	go b.checkpoints()
	return b, nil
}

// checkpointUnlessStuck writes the last checkpoints, unless the log takes no
// more: waiting for room could take for ever, and the log is enough to recover.
// The goroutine that writes them is counted in last: closing the store ends it.
func (b *Broker) checkpointUnlessStuck(last *sync.WaitGroup) error {
	stuck := make(chan struct{})
	var once sync.Once
	b.wal.Watch(func(s store.State) {
		if s.Health != store.Healthy {
			once.Do(func() { close(stuck) })
		}
	})
	if b.wal.State().Health != store.Healthy {
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

func (b *Broker) nowMillis() int64 { return b.opts.Now().UnixMilli() }

// Now is the broker's time, unix ms.
func (b *Broker) Now() int64 { return b.nowMillis() }

// restTime is how long Close waits for messages on their way between shards.
const restTime = 5 * time.Second

// rest returns when no message is on its way from one shard to another, so that
// none of them is in both places after the next start. It gives up after a
// while, and when the log takes no more.
func (b *Broker) rest() {
	b.resting.Store(true)
	over := time.After(restTime)
	for quiet := 0; quiet < 2 && b.wal.State().Health == store.Healthy; quiet++ {
		for _, sh := range b.shards {
			moving := make(chan bool, 1)
			sh.post(func() { moving <- sh.deadBytes > 0 })
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

// Close stops the engine: what the shards have taken in is done, recorded and
// made durable, a clean checkpoint is written, and the folder is free again.
// Sessions must be closed before. It is safe to call twice.
func (b *Broker) Close() error {
	b.closeOnce.Do(func() {
		close(b.stop)
		b.Hurry()
		b.flow.close()
		b.rest()
		for _, sh := range b.shards {
			sh.inbox.close()
			<-sh.done
		}
		for _, h := range b.machines {
			h.Close()
		}
		var last sync.WaitGroup
		final := b.checkpointUnlessStuck(&last)
		b.closed = errors.Join(final, b.store.Close(), b.scratch.Close())
		for _, h := range b.machines {
			h.End()
		}
		b.housekeeper.Wait()
		b.awaitMachines()
		last.Wait() // who opens the folder next must not meet files that come and go
	})
	return b.closed
}

// Hash tells what the durable state is, equal for equal content.
func (b *Broker) Hash() (uint64, error) {
	sum := b.journal.Hash()
	for _, h := range b.machines {
		sum += h.Hash()
	}
	for _, sh := range b.shards {
		if err := sh.call(func() { sum += sh.machine.Hash() }); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// Stats are figures of the engine for people and metrics.
type Stats struct {
	Queues                                       int
	Memory                                       int64 // bytes held by queues' messages
	Unreadable                                   int64 // messages set aside because the disk did not give them back
	DeadLettered                                 int64
	SlowHashes                                   int64  // password hashes computed that take time on purpose; a successful login needs one once
	Duplicates                                   int64  // messages dropped because their key was remembered
	QueuesDeclared, QueuesCreated, QueuesDeleted uint64 // declarations, those of them that made a queue, and queues that went
	Log                                          store.Stats
	LogState                                     store.State
}

// Stats reads the counters.
func (b *Broker) Stats() Stats {
	return Stats{
		Queues: int(b.catalog.QueueCount()), Memory: b.memory.Load(), Unreadable: b.counters.unreadable.Load(),
		DeadLettered: b.counters.deadLettered.Load(), SlowHashes: b.SlowHashes(), Duplicates: b.counters.duplicates.Load(),
		QueuesDeclared: b.counters.queuesDeclared.Load(), QueuesCreated: b.counters.queuesCreated.Load(), QueuesDeleted: b.counters.queuesDeleted.Load(),
		Log: b.store.Stats(), LogState: b.wal.State(),
	}
}
