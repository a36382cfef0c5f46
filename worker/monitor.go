package worker

import (
	"log/slog"
	"sync"
	"time"
)

// Poll is what a monitor is told of one turn of a poller.
type Poll struct {
	Queue   string
	Size    int   // jobs in the queue, in whatever state; at most a second old
	DryRuns int   // polls in a row that found nothing, this one counted; 0 when it found something
	Jobs    []Job // what it found; not to be changed
	Err     error // why it could not ask
	Log     *slog.Logger
}

// MonitorSize is a monitor that warns when a queue has more than limit jobs, once in every. It may
// serve several workers; each queue has its own warnings.
func MonitorSize(limit int, every time.Duration) func(Poll) {
	var mu sync.Mutex
	warned := map[string]time.Time{}
	return func(p Poll) {
		if p.Size <= limit {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		last, ok := warned[p.Queue]
		if now := time.Now(); !ok || now.Sub(last) >= every {
			warned[p.Queue] = now
			p.Log.Warn("the queue is long", "queue", p.Queue, "size", p.Size, "limit", limit)
		}
	}
}
