package serving

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
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

// quietAfter is the time between two collections after which garbage is not worth its memory.
const quietAfter = 10 * time.Second

// busyWithin is the time between two collections below which a large heap may have more garbage: to
// mark it so often would take a good part of the CPU. The memory limit stays in force.
const busyWithin = time.Second

// usualPercent is Go's default for GOGC.
const usualPercent = 100

// The broker has calmed down when it allocates less than calmBytes in a calmStep. Then what the
// load has left behind goes back to the operating system, if it is worth a collection.
const (
	calmStep  = time.Second
	calmBytes = 1 << 20
	worthIt   = 8 << 20
	// worthShare is for large heaps, where a collection has to mark everything that is alive.
	worthShare = 8
)

// collector controls when the garbage collector of this process runs, depending on memory_limit.
// The variables GOGC and GOMEMLIMIT override their parts of it.
type collector struct {
	ctx     context.Context // ends follow
	cfg     config.Config
	limited bool // GOMEMLIMIT is not set
	room    int64

	// These fields belong to the last collection; only one follow at a time uses them.
	percent int
	last    time.Time

	calm      *time.Timer  // runs giveBack
	allocated atomic.Int64 // at the last giveBack, to compute what was allocated since
	// gaps is what the last giveBack could not give back: free memory between live objects.
	gaps atomic.Int64
}

// newCollector returns a collector that starts at once and ends with ctx.
func newCollector(ctx context.Context, cfg config.Config) *collector {
	c := &collector{
		ctx: ctx, cfg: cfg, limited: os.Getenv("GOMEMLIMIT") == "", room: min(cfg.MemoryLimit/roomShare, largestRoom),
		percent: usualPercent, last: time.Now(),
	}
	if os.Getenv("GOGC") == "" {
		c.calm = time.AfterFunc(calmStep, c.giveBack)
		context.AfterFunc(ctx, func() { c.calm.Stop() })
		c.afterNext()
	}
	c.limit(0)
	return c
}

// limit adapts the limit to the memory of keys and semaphores (server.Server.Kept).
func (c *collector) limit(kept int64) {
	if c.limited {
		debug.SetMemoryLimit(server.HeapLimit(c.cfg, kept))
	}
}

// mark is an object that exists only to detect collections. It contains a pointer, since the
// runtime may combine small objects without pointers, and then does not report their end.
type mark struct{ _ *mark }

// afterNext calls follow after the next collection, which calls afterNext again.
func (c *collector) afterNext() {
	runtime.AddCleanup(&mark{}, (*collector).follow, c)
}

func (c *collector) follow() {
	if c.ctx.Err() != nil {
		return
	}
	now := time.Now()
	percent := gcPercent(markedBytes(), c.room, now.Sub(c.last), c.percent)
	if percent != c.percent {
		debug.SetGCPercent(percent)
	}
	c.percent, c.last = percent, now
	c.calm.Reset(calmStep)
	c.afterNext()
}

// giveBack returns free memory to the operating system once the broker is calm. It runs one step
// after a collection, and then every step until the broker is calm. An idle broker has no timer: a
// collection by giveBack starts it once more, but then there is nothing to give back.
func (c *collector) giveBack() {
	allocated, live, dead := heap()
	gaps := min(c.gaps.Load(), dead)
	step := allocated - c.allocated.Swap(allocated)
	switch {
	case c.ctx.Err() != nil:
	case step > calmBytes:
		c.calm.Reset(calmStep)
	case dead-gaps > max(worthIt, live/worthShare):
		debug.FreeOSMemory()
		_, _, gaps = heap()
	}
	c.gaps.Store(gaps)
}

// heap returns the bytes that were allocated so far, that the last collection found alive, and that
// the process has besides these: garbage, gaps and free memory.
func heap() (allocated, live, dead int64) {
	v := read("/gc/heap/allocs:bytes", "/gc/heap/live:bytes",
		"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/free:bytes")
	return v[0], v[1], v[2] + v[3] + v[4] - v[1]
}

// gcPercent returns GOGC until the next collection: what the room for garbage allows if less than
// that is marked. Otherwise it is Go's default, or up to twice that if collections follow each
// other quickly. since is the time since the previous collection, with GOGC at present.
func gcPercent(marked, room int64, since time.Duration, present int) int {
	marked = max(marked, 1<<20)
	switch percent := int(usualPercent * room / marked); {
	case since >= quietAfter:
		return usualPercent
	case percent >= usualPercent:
		return percent
	case since*usualPercent/time.Duration(present) < busyWithin: // as it would be with the default
		return 2*usualPercent - percent
	}
	return usualPercent
}

// markedBytes returns how much the last collection had to mark, which is what GOGC is a percentage
// of.
func markedBytes() (sum int64) {
	for _, v := range read("/gc/heap/live:bytes", "/gc/scan/stack:bytes", "/gc/scan/globals:bytes") {
		sum += v
	}
	return sum
}

// read returns metrics of the runtime, or 0 for unknown ones.
func read(names ...string) []int64 {
	samples, values := make([]metrics.Sample, len(names)), make([]int64, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for i, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			values[i] = int64(s.Value.Uint64())
		}
	}
	return values
}
