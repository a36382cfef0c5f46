package enginetest

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/followtest"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

const folder = "data"

// opened has where brokers that tests opened keep their log.
var opened sync.Map // *broker.Broker -> origin

type origin struct {
	fs   vfs.FS
	dir  string
	opts broker.Options
	log  *followtest.Log // nil: no replica follows
	seen *sums           // SumsDuring
}

// TryOpen opens a broker with two shards, with the options as change, if it is not nil, leaves
// them.
func TryOpen(fs vfs.FS, change func(*broker.Options)) (*broker.Broker, error) {
	return tryOpen(fs, folder, change)
}

func tryOpen(fs vfs.FS, dir string, change func(*broker.Options)) (*broker.Broker, error) {
	o := broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1, Shards: 2}
	if change != nil {
		change(&o)
	}
	at := origin{dir: dir, opts: o, seen: &sums{all: map[place]sum{}}}
	if mem, ok := fs.(*vfs.Mem); ok && o.WrapLog == nil {
		o.WrapLog = func(st *store.Store) shardlog.Log {
			at.log = followtest.New(st, Crashed(mem))
			return at.log
		}
	}
	b, err := broker.Open(fs, dir, o)
	if e, ok := fs.(*vfs.Errors); ok {
		fs = e.Base()
	}
	if err == nil {
		at.fs = fs
		opened.Store(b, at)
	}
	return b, err
}

// Open is TryOpen, and fails the test on an error.
func Open(t testing.TB, fs vfs.FS, change func(*broker.Options)) *broker.Broker {
	t.Helper()
	return open(t, fs, folder, change)
}

// OpenFolder is Open on a folder of the operating system.
func OpenFolder(t testing.TB, dir string, change func(*broker.Options)) *broker.Broker {
	t.Helper()
	return open(t, vfs.OS{}, dir, change)
}

func open(t testing.TB, fs vfs.FS, dir string, change func(*broker.Options)) *broker.Broker {
	t.Helper()
	b, err := tryOpen(fs, dir, change)
	Must(t, err)
	t.Cleanup(func() {
		_, left := opened.LoadAndDelete(b)
		disk, mayFail := fs.(*vfs.Errors)
		if left && b.Stats().LogState.Health == store.Healthy && !(mayFail && disk.Crashed()) {
			t.Error("a broker was not compared with its log: Close does that")
		}
	})
	return b
}

// Close closes a broker. For a broker from Open, it checks that recovery from its log gives its
// state, unless the log has failed.
func Close(t testing.TB, b *broker.Broker) {
	t.Helper()
	replay := Compare(t, b)
	Must(t, b.Close())
	if replay != nil {
		replay()
	}
}

// Compare fails the test if recovery from the log of a broker from Open does not give its state.
// Only the first call for a broker compares. If the folder is not in memory, so that it is locked,
// the caller calls later after the broker has closed; else later is nil.
func Compare(t testing.TB, b *broker.Broker) (later func()) {
	t.Helper()
	v, ok := opened.LoadAndDelete(b)
	if !ok {
		return nil
	}
	o := v.(origin)
	for range 10 { // until nothing changes during the comparison
		if b.Stats().LogState.Health != store.Healthy {
			return nil
		}
		before, err := b.Hash()
		if err != nil || b.Sync() != nil {
			return nil // it is closed already, or its log has failed
		}
		mem, inMemory := o.fs.(*vfs.Mem)
		if inMemory {
			o.fs = Crashed(mem)
		}
		if o.log != nil {
			o.log = o.log.Cut()
		}
		after, err := b.Hash()
		Must(t, err)
		replay := func() {
			t.Helper()
			if o.hash(t) != after {
				t.Errorf("the state that recovery makes of the log is not the one that was there")
			}
			if o.log != nil && o.followed(t) != after {
				t.Errorf("the state of a replica that followed is not the one that was there")
			}
		}
		switch {
		case before != after:
			o = v.(origin)
		case inMemory:
			replay()
			return nil
		default:
			return replay
		}
	}
	t.Errorf("the state of the broker changes all the time")
	return nil
}

// hash returns the hash of what recovery makes of the log.
func (o origin) hash(t testing.TB) uint64 {
	t.Helper()
	machines, end := newMachines(t, o.opts.StateMachines)
	o.opts.StateMachines = machines
	sum, err := broker.ReplayedHash(o.fs, o.dir, o.opts)
	Must(t, err)
	end()
	return sum
}

// followed returns the hash of a replica that has applied everything that was appended.
func (o origin) followed(t testing.TB) (sum uint64) {
	t.Helper()
	machines, end := newMachines(t, o.opts.StateMachines)
	o.opts.StateMachines = machines
	var r *broker.Replica
	open := func(st *store.Store, fs vfs.FS) (_ followtest.Replica, err error) {
		r, err = broker.OpenReplica(st, fs, o.dir, o.opts)
		return &checked{t, r, o.seen}, err
	}
	Must(t, o.log.Follow(o.dir, open, func(*store.Store) { sum = r.Hash() }))
	if len(o.seen.all) > 0 && o.seen.compared == 0 {
		t.Error("no sum of SumsDuring could be compared")
	}
	end()
	return sum
}

// Sync makes everything durable that the shards were asked for, and makes their timers check the
// clock.
func Sync(t testing.TB, b *broker.Broker) {
	t.Helper()
	Must(t, b.Sync())
}

// Crashed returns what a power failure leaves.
func Crashed(mem *vfs.Mem) *vfs.Mem { return mem.CrashClone(rand.New(rand.NewPCG(1, 1))) }

// Clock is a time that stands still until a test sets it, unix ms.
type Clock struct{ MS atomic.Int64 }

// NewClock is a clock that stands at a time.
func NewClock(ms int64) *Clock {
	c := &Clock{}
	c.MS.Store(ms)
	return c
}

// Now is for broker.Options.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.MS.Load()) }

// Must ends the test with an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
