package serving

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/server"
)

// How much garbage a busy broker may have before it is collected. The live heap of a broker is
// small, 5 to 20 MiB under most loads: with Go's default, as much garbage as live objects, it
// would be marked 40 times a second.
const (
	largestRoom = 32 << 20
	roomShare   = 16 // of memory_limit, for machines with less
)

// quietAfter is the time between two collections after which the garbage is not worth its memory.
const quietAfter = 10 * time.Second

// usualPercent is Go's default.
const usualPercent = 100

// collector sets when the garbage collector of this process runs, by memory_limit. The variables
// GOGC and GOMEMLIMIT, each for its part, override it.
type collector struct {
	ctx     context.Context // ends follow
	cfg     config.Config
	limited bool // GOMEMLIMIT is not set
	room    int64

	// Of the last collection; one follow at a time uses these.
	percent int
	last    time.Time
}

// newCollector begins with it; ctx ends it.
func newCollector(ctx context.Context, cfg config.Config) *collector {
	c := &collector{
		ctx: ctx, cfg: cfg, limited: os.Getenv("GOMEMLIMIT") == "", room: min(cfg.MemoryLimit/roomShare, largestRoom),
		percent: usualPercent, last: time.Now(),
	}
	if os.Getenv("GOGC") == "" {
		c.afterNext()
	}
	c.limit(0)
	return c
}

// limit follows what keys and semaphores take (server.Server.Kept).
func (c *collector) limit(kept int64) {
	if c.limited {
		debug.SetMemoryLimit(server.HeapLimit(c.cfg, kept))
	}
}

// mark is an object that only the collector looks for. It has a pointer since the runtime may put
// small objects without one together, and then does not say when they are gone.
type mark struct{ _ *mark }

// afterNext calls follow after the next collection, and so after each.
func (c *collector) afterNext() {
	runtime.AddCleanup(&mark{}, (*collector).follow, c)
}

func (c *collector) follow() {
	if c.ctx.Err() != nil {
		return
	}
	now := time.Now()
	percent := gcPercent(markedBytes(), c.room, now.Sub(c.last))
	if percent != c.percent {
		debug.SetGCPercent(percent)
	}
	c.percent, c.last = percent, now
	c.afterNext()
}

// gcPercent is GOGC until the next collection: room for garbage while what is marked is less than
// that, else Go's default. since is the time since the collection before.
func gcPercent(marked, room int64, since time.Duration) int {
	if since >= quietAfter {
		return usualPercent
	}
	return max(usualPercent, int(usualPercent*room/max(marked, 1<<20)))
}

// markedBytes is what the last collection had to look at, and what GOGC is a percentage of.
func markedBytes() (sum int64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += int64(s.Value.Uint64())
		}
	}
	return sum
}
