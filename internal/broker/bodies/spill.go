package bodies

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// entryBytes is the size at which an entry of the scratch log is written.
const entryBytes = 1 << 20

// spill appends to the scratch log.
type spill struct {
	post    func(func()) bool // runs a function on the shard's goroutine
	index   uint64            // of the current entry
	sub     uint32
	data    []byte
	pending map[uint64][]byte // entries that are not written yet: their bytes are read from here
}

// Usable reports whether bodies can be spilled now.
func (b *Bodies) Usable() bool { return b.Scratch != nil && b.Scratch.State().Health == store.Healthy }

// Put adds a body to the current entry and returns its position.
func (b *Bodies) Put(env message.Envelope) (index uint64, sub uint32) {
	b.spill.data = shardstate.AppendBody(b.spill.data, env)
	index, sub = b.spill.index, b.spill.sub
	b.spill.sub++
	if len(b.spill.data) >= entryBytes {
		b.Propose()
	}
	return index, sub
}

// Propose starts writing the current entry. Its bytes stay readable in memory until it is written.
func (b *Bodies) Propose() {
	if b.spill.sub == 0 {
		return
	}
	index, refs := b.spill.index, int(b.spill.sub)
	b.spill.pending[index] = b.spill.data
	e := store.Entry{Shard: b.shard, Index: index, Data: b.spill.data, Refs: refs}
	b.spill.index, b.spill.sub, b.spill.data = index+1, 0, nil
	size := int64(len(e.Data))
	b.Moved(size)
	b.Scratch.Append([]store.Entry{e}, func(err error) {
		if err == nil {
			b.Moved(-size)
			b.spill.post(func() { delete(b.spill.pending, index) })
		}
	})
}

// readSpilled returns the fact of a spilled body. Without a reader it reads only that.
func (b *Bodies) readSpilled(it *queue.Item, reader *store.Reader) ([]byte, error) {
	if data, ok := b.spill.pending[it.Index]; ok {
		return shardstate.NthFact(data, it.Sub)
	}
	if reader == nil {
		return b.Scratch.Body(store.Pos{Shard: b.shard, Index: it.Index, Sub: it.Sub}, nil)
	}
	return reader.Read(it.Index, it.Sub)
}

// Release releases a body that is no longer needed.
func (b *Bodies) Release(index uint64) {
	b.Scratch.Release(b.shard, index, 1)
	b.Released.Add(1)
}
