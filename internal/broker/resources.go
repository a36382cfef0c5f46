package broker

import (
	"fiveways.dev/fiveways/internal/core/histogram"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Resources are the broker's limits on its machine's resources, and its use of them.
type Resources struct {
	Dir           string
	Memory        int64  // bytes of the messages in queues
	MemoryLimit   int64  // bytes of Memory from which publishers are blocked
	DiskFree      int64  // bytes that are free on the disk of Dir; -1: unknown
	DiskFreeLimit int64  // bytes of DiskFree below which publishers are blocked; 0: no limit
	Alarm         string // why publishers are blocked now; "" if they are not
}

// Resources returns the current values.
func (b *Broker) Resources() Resources {
	r := Resources{Dir: b.dir, Memory: b.set.Memory.Load(), MemoryLimit: b.opts.MemoryLimit, DiskFree: -1, DiskFreeLimit: max(b.opts.DiskFreeLimit, 0)}
	if free, err := b.fs.Free(b.dir); err == nil {
		r.DiskFree = int64(free)
	}
	if a := b.Alarm(); a != nil {
		r.Alarm = a.Reason
	}
	return r
}

// Latencies are histograms of the engine's work.
type Latencies struct {
	Queueing histogram.Snapshot // ms from a message's arrival to its first delivery, for some messages of each queue
	Confirm  histogram.Snapshot // ns from a shard's publishes to their durability, one for each part of the log
	store.Histograms
}

// Latencies returns the histograms.
func (b *Broker) Latencies() Latencies {
	return Latencies{Queueing: b.set.Waited.Read(), Confirm: b.set.Logs.Confirmed.Read(), Histograms: b.set.Store.Histograms()}
}
