package worker

import (
	"log/slog"
	"sync"
	"time"
)

// Poll is the information for a monitor about a poll.
type Poll struct {
	Queue   string
	Size    int   // jobs in the queue, in any state; at most a second old
	DryRuns int   // consecutive polls that found nothing, including this one; 0 if it found jobs
	Jobs    []Job // the jobs it found; read-only
	Err     error // why the poll failed
	Log     *slog.Logger
}

// MonitorSize returns a monitor that warns when a queue has more than limit jobs, at most once per
// interval every. It may serve several workers; each queue is tracked separately.
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
