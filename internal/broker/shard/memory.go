package shard

import (
	"fiveways/internal/broker/shardlog"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/storage/store"
)

// A queue keeps the messages near its head in memory. Deeper ones are packed to a few bytes each,
// and read back from the log, in order and in large blocks, when their turn comes.
const (
	hotBytesCalm  = 4 << 20   // kept per queue while there is plenty of memory
	hotBytesTight = 256 << 10 // kept per queue when half of the limit is used
)

// boundMemory packs what the queue holds beyond its share. Transient messages have no copy on disk;
// they move to the scratch log only under pressure.
func (sh *Shard) boundMemory(q *Queue) {
	hot := q.state.HotBytes()
	sh.count(q, hot)
	used, limit := sh.set.Memory.Load(), sh.set.MemoryLimit
	keep := min(hotBytesCalm, limit/8)
	var spill func(*queue.Item) (uint64, uint32, bool)
	if used > limit/2 {
		keep = min(hotBytesTight, limit/64, limit/4/(sh.set.Catalog.QueueCount()+1))
		if sh.spill.usable(sh) {
			spill = func(it *queue.Item) (uint64, uint32, bool) { return sh.spill.put(sh, it) }
		}
	}
	// Packing a little at a time would look at the same chunks again and again, and what could not
	// be packed before cannot be now.
	if hot <= keep+keep/4 || q.cooledTo == keep && hot <= q.cooled+q.cooled/4 {
		return
	}
	q.state.Cool(sh.set.Store.Written(sh.ID), keep, spill)
	if spill != nil {
		sh.spill.propose(sh)
	}
	q.cooledTo, q.cooled = keep, q.state.HotBytes()
	sh.count(q, q.cooled)
}

// Relieve packs the queues that hold more than their share, idle ones included. The watchdog asks
// for it under pressure.
func (sh *Shard) Relieve() {
	share := sh.set.MemoryLimit / 4 / (sh.set.Catalog.QueueCount() + 1)
	for _, q := range sh.queues {
		if q.hot > share {
			q.cooledTo = 0 // what was not written the last time may be now
			sh.mark(q)
		}
	}
}

// count updates the broker's sum of what queues hold in memory.
func (sh *Shard) count(q *Queue, hot int64) {
	if d := hot - q.hot; d != 0 {
		q.hot = hot
		sh.hot += d
		sh.set.Memory.Add(d)
		if d < 0 {
			sh.set.Flow.Relieve()
		}
	}
}

// spill moves bodies of transient messages to the scratch log, which is written, never synced, and
// deleted at the start.
type spill struct {
	index   uint64 // of the entry in hand
	sub     uint32
	data    []byte
	pending map[uint64][]byte // entries not yet written: read from here
}

func (sp *spill) usable(sh *Shard) bool {
	return sh.set.Scratch != nil && sh.set.Scratch.State().Health == store.Healthy
}

// put gives the item's body a place in the entry in hand.
func (sp *spill) put(sh *Shard, it *queue.Item) (index uint64, sub uint32, ok bool) {
	if sp.index == 0 {
		sp.index = 1
		sp.pending = map[uint64][]byte{}
	}
	sp.data = shardstate.AppendBody(sp.data, it.Env)
	index, sub = sp.index, sp.sub
	sp.sub++
	if len(sp.data) >= shardlog.EntryBytes {
		sp.propose(sh)
	}
	return index, sub, true
}

// propose appends the entry in hand. Its bytes stay readable in memory until they are written.
func (sp *spill) propose(sh *Shard) {
	if sp.sub == 0 {
		return
	}
	index, refs := sp.index, int(sp.sub)
	sp.pending[index] = sp.data
	e := store.Entry{Shard: sh.ID, Index: index, Data: sp.data, Refs: refs}
	sp.index, sp.sub, sp.data = index+1, 0, nil
	size := int64(len(e.Data))
	sh.set.Memory.Add(size)
	sh.set.Scratch.Append([]store.Entry{e}, func(err error) {
		if err == nil {
			sh.set.Memory.Add(-size)
			sh.set.Flow.Relieve()
			sh.Post(func() { delete(sp.pending, index) })
		}
	})
}

// readSpilled returns the fact of a spilled message.
func (sh *Shard) readSpilled(q *Queue, it *queue.Item) ([]byte, error) {
	if data, ok := sh.spill.pending[it.Index]; ok {
		return shardstate.NthFact(data, it.Sub)
	}
	if q.scratchReader == nil {
		q.scratchReader = sh.set.Scratch.NewReader(sh.ID)
	}
	return q.scratchReader.Read(it.Index, it.Sub)
}

func (sh *Shard) releaseSpilled(index uint64) {
	sh.set.Scratch.Release(sh.ID, index, 1)
	sh.set.ScratchReleased.Add(1)
}

// releasing notes which bodies are not needed any more once the entry in hand is durable.
type releasing struct{ sh *Shard }

func (r releasing) Logged(index uint64)  { r.sh.log.Release(index) }
func (r releasing) Scratch(index uint64) { r.sh.releaseSpilled(index) }
