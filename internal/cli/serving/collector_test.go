package serving

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/server"
)

func TestGCPercent(t *testing.T) {
	for name, c := range map[string]struct {
		marked, room int64
		since        time.Duration
		present      int
		want         int
	}{
		"an empty broker under load":      {4 << 20, 64 << 20, time.Millisecond, 100, 1600},
		"a usual heap":                    {16 << 20, 64 << 20, time.Second, 100, 400},
		"nothing marked yet":              {0, 64 << 20, time.Second, 100, 6400},
		"as much as the room":             {64 << 20, 64 << 20, time.Second, 100, 100},
		"a large heap":                    {600 << 20, 64 << 20, time.Second, 100, 100},
		"a large heap, busy":              {640 << 20, 64 << 20, time.Second - 1, 100, 190},
		"a large heap, still busy":        {640 << 20, 64 << 20, 1899 * time.Millisecond, 190, 190},
		"a large heap, no longer busy":    {640 << 20, 64 << 20, 1900 * time.Millisecond, 190, 100},
		"more than the room, busy":        {80 << 20, 64 << 20, time.Millisecond, 100, 120},
		"a small memory_limit":            {4 << 20, 2 << 20, time.Second, 100, 100},
		"a small memory_limit, busy":      {4 << 20, 2 << 20, time.Millisecond, 100, 150},
		"collected seldom":                {4 << 20, 64 << 20, quietAfter, 100, 100},
		"collected by the runtime's rule": {4 << 20, 64 << 20, 2 * time.Minute, 100, 100},
	} {
		if got := gcPercent(c.marked, c.room, c.since, c.present); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The collector's settings belong to the process, so the tests restore them.
func TestCollectorFollowsCollections(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usualPercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := config.Default()
	c := newCollector(ctx, cfg)
	if got, want := inForce(t, "/gc/gomemlimit:bytes"), server.HeapLimit(cfg, 0); got != want {
		t.Errorf("the limit is %d, want %d", got, want)
	}
	c.limit(1 << 30)
	if got, want := inForce(t, "/gc/gomemlimit:bytes"), server.HeapLimit(cfg, 1<<30); got != want {
		t.Errorf("with what is kept the limit is %d, want %d", got, want)
	}
	for began := time.Now(); inForce(t, "/gc/gogc:percent") == usualPercent; {
		if time.Since(began) > time.Minute {
			t.Fatal("no collection has given the heap room")
		}
		runtime.GC()
	}
}

// TestCalmBrokerGivesMemoryBack checks that garbage left by a load is returned once little is
// allocated, and not before.
func TestCalmBrokerGivesMemoryBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // disables other collections
	c := &collector{ctx: t.Context(), calm: time.NewTimer(time.Hour)}
	defer c.calm.Stop()
	kept := func() int64 {
		return inForce(t, "/memory/classes/heap/objects:bytes") + inForce(t, "/memory/classes/heap/free:bytes")
	}
	c.giveBack()
	for range 64 {
		sink = make([]byte, 1<<20)
	}
	full := kept()
	if c.giveBack(); kept() < full {
		t.Errorf("%d bytes of %d are left of a broker that allocates", kept(), full)
	}
	if c.giveBack(); kept() > full-(50<<20) {
		t.Errorf("%d bytes of %d are left of a calm broker", kept(), full)
	}
}

// TestFragmentsAreNoGarbage checks that a calm broker is not collected again because of what a
// collection cannot give back: the gaps between objects that are still used.
func TestFragmentsAreNoGarbage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // disables other collections
	c := &collector{ctx: t.Context(), calm: time.NewTimer(time.Hour)}
	defer c.calm.Stop()
	used := make([][]byte, 1<<16)
	for i := range used {
		used[i] = make([]byte, 512)
	}
	c.giveBack()
	for i := range used {
		if i%8 != 0 {
			used[i] = nil
		}
	}
	before := inForce(t, "/gc/cycles/total:gc-cycles")
	for range 5 {
		c.giveBack()
	}
	if n := inForce(t, "/gc/cycles/total:gc-cycles") - before; n != 1 {
		t.Errorf("%d collections of a calm broker, want 1", n)
	}
	runtime.KeepAlive(used)
}

var sink []byte

func TestOperatorsCollectorWins(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(150))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 30))
	t.Setenv("GOGC", "150")
	t.Setenv("GOMEMLIMIT", "3GiB")
	c := newCollector(t.Context(), config.Default())
	c.limit(1 << 30)
	for range 3 { // the last cleanup runs after those of the first collection
		collected := make(chan struct{})
		runtime.AddCleanup(&mark{}, func(done chan struct{}) { close(done) }, collected)
		for done := false; !done; {
			runtime.GC()
			select {
			case <-collected:
				done = true
			default:
			}
		}
	}
	if percent, limit := inForce(t, "/gc/gogc:percent"), inForce(t, "/gc/gomemlimit:bytes"); percent != 150 || limit != 3<<30 {
		t.Errorf("GOGC is %d and GOMEMLIMIT %d", percent, limit)
	}
}

// inForce returns a setting of the collector.
func inForce(t *testing.T, name string) int64 {
	t.Helper()
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		t.Fatalf("the runtime does not know %s", name)
	}
	return int64(s[0].Value.Uint64())
}
