package shard

import (
	"fiveways.dev/fiveways/internal/core/queue"
)

// A queue keeps the messages near its head in memory. Deeper ones are packed to a few bytes each.
// They are read back from the log, in order and in large blocks, when they are needed.
const (
	hotBytesCalm  = 4 << 20   // kept per queue while there is plenty of memory
	hotBytesTight = 256 << 10 // kept per queue once half of the limit is used
)

// boundMemory packs what the queue holds beyond its share. Transient messages have no copy on disk
// and move to the scratch log only under memory pressure.
func (sh *Shard) boundMemory(q *Queue) {
	sh.count(q, q.state.HotBytes())
	used, limit := sh.set.Memory.Load(), sh.set.MemoryLimit
	keep := min(hotBytesCalm, limit/8)
	var spill func(*queue.Item) (uint64, uint32, bool)
	if used > limit/2 || q.packing.More() {
		keep = min(hotBytesTight, limit/64, limit/4/(sh.set.Catalog.QueueCount()+1))
		if sh.bodies.Usable() {
			spill = func(it *queue.Item) (index uint64, sub uint32, ok bool) {
				index, sub = sh.bodies.Put(it.Env)
				return index, sub, true
			}
		}
	}
	if q.packing.Due(q.state, keep) {
		q.packing.Pack(q.state, sh.set.Store.Written(sh.ID), keep, spill)
		sh.bodies.Propose()
		sh.count(q, q.state.HotBytes())
	}
}

// Pack packs the queues that hold more than their shares, in a shard that does not run.
func (sh *Shard) Pack() {
	for _, q := range sh.queues {
		sh.boundMemory(q)
	}
}

// Relieve packs the queues that hold more than their shares, idle ones included. The watchdog calls
// it under memory pressure.
func (sh *Shard) Relieve() {
	share := sh.set.MemoryLimit / 4 / (sh.set.Catalog.QueueCount() + 1)
	for _, q := range sh.queues {
		if q.hot > share {
			q.packing = queue.Packing{} // messages that were not yet written last time may be now
			sh.mark(q)
		}
	}
}

// count updates the broker's total of the memory that queues hold.
func (sh *Shard) count(q *Queue, hot int64) {
	if d := hot - q.hot; d != 0 {
		q.hot = hot
		sh.hot += d
		sh.set.use(d)
	}
}

// releasing collects the bodies that are no longer needed once the current entry is durable.
type releasing struct{ sh *Shard }

func (r releasing) Logged(index uint64)  { r.sh.log.Release(index) }
func (r releasing) Scratch(index uint64) { r.sh.bodies.Release(index) }
