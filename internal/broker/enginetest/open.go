package enginetest

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
)

const folder = "data"

// opened has the file system and the options of brokers that tests opened in memory.
var opened sync.Map // *broker.Broker -> origin

type origin struct {
	fs   *vfs.Mem
	opts broker.Options
}

// TryOpen opens a broker with two shards, or what change, if it is not nil, makes of the options.
func TryOpen(fs vfs.FS, change func(*broker.Options)) (*broker.Broker, error) {
	o := broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1, Shards: 2}
	if change != nil {
		change(&o)
	}
	b, err := broker.Open(fs, folder, o)
	if mem, ok := fs.(*vfs.Mem); ok && err == nil {
		opened.Store(b, origin{mem, o})
	}
	return b, err
}

// Open is TryOpen for what must go well.
func Open(t testing.TB, fs vfs.FS, change func(*broker.Options)) *broker.Broker {
	t.Helper()
	b, err := TryOpen(fs, change)
	Must(t, err)
	t.Cleanup(func() { opened.Delete(b) })
	return b
}

// Close closes a broker, after a look whether its log makes the same state.
func Close(t testing.TB, b *broker.Broker) {
	t.Helper()
	sameWhenReplayed(t, b)
	Must(t, b.Close())
}

// sameWhenReplayed compares the state of a broker that is about to close with what recovery makes
// of its log. A state that changes while it is looked at is looked at again.
func sameWhenReplayed(t testing.TB, b *broker.Broker) {
	t.Helper()
	v, ok := opened.LoadAndDelete(b)
	if !ok {
		return // not in memory, or it was compared before
	}
	o := v.(origin)
	for range 10 {
		if b.Stats().LogState.Health != store.Healthy {
			return
		}
		before, err := b.Hash()
		if err != nil {
			return // closed already
		}
		Sync(t, b)
		disk := Crashed(o.fs)
		after, err := b.Hash()
		Must(t, err)
		if before != after {
			continue
		}
		got, err := broker.ReplayedHash(disk, folder, o.opts)
		Must(t, err)
		if got != after {
			t.Errorf("the state that recovery makes of the log is not the one that was there")
		}
		return
	}
}

// Sync makes durable all that the shards were asked for, and has their timers look at the clock.
func Sync(t testing.TB, b *broker.Broker) {
	t.Helper()
	Must(t, b.Sync())
}

// Crashed is what a power cut leaves.
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
