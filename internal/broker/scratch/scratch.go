// Package scratch moves bodies of transient messages, for which memory has no room, to a log of
// their own. That is written, never synced, and deleted at the start.
package scratch

import (
	"sync/atomic"

	"fiveways/internal/core/message"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/storage/store"
)

// Shared is what the shards of one broker share.
type Shared struct {
	Scratch  *store.Store      // the scratch log; nil: there is none
	Moved    func(bytes int64) // the memory taken by bodies on their way has changed by this much
	Released atomic.Int64      // bodies released since segments were last deleted
}

// entryBytes is the size at which an entry is written.
const entryBytes = 1 << 20

// Bodies are those of one shard. The methods are for the goroutine that runs the shard.
type Bodies struct {
	*Shared
	shard   uint32
	post    func(func()) bool // runs a function on that goroutine
	index   uint64            // of the current entry
	sub     uint32
	data    []byte
	pending map[uint64][]byte // entries not yet written: read from here
}

// NewBodies returns the bodies of a shard. post runs a function on the shard's goroutine, and does
// not wait for it.
func NewBodies(s *Shared, shard uint32, post func(func()) bool) *Bodies {
	return &Bodies{Shared: s, shard: shard, post: post, index: 1, pending: map[uint64][]byte{}}
}

// Usable reports whether bodies can be moved now.
func (b *Bodies) Usable() bool { return b.Scratch != nil && b.Scratch.State().Health == store.Healthy }

// Put gives a body its place in the current entry.
func (b *Bodies) Put(env message.Envelope) (index uint64, sub uint32) {
	b.data = shardstate.AppendBody(b.data, env)
	index, sub = b.index, b.sub
	b.sub++
	if len(b.data) >= entryBytes {
		b.Propose()
	}
	return index, sub
}

// Propose has the current entry written. Its bytes stay readable in memory until it is.
func (b *Bodies) Propose() {
	if b.sub == 0 {
		return
	}
	index, refs := b.index, int(b.sub)
	b.pending[index] = b.data
	e := store.Entry{Shard: b.shard, Index: index, Data: b.data, Refs: refs}
	b.index, b.sub, b.data = index+1, 0, nil
	size := int64(len(e.Data))
	b.Moved(size)
	b.Scratch.Append([]store.Entry{e}, func(err error) {
		if err == nil {
			b.Moved(-size)
			b.post(func() { delete(b.pending, index) })
		}
	})
}

// Read returns the fact of a body. reader, which may be nil, reads ahead; without it one body is
// read.
func (b *Bodies) Read(index uint64, sub uint32, reader *store.Reader) ([]byte, error) {
	if data, ok := b.pending[index]; ok {
		return shardstate.NthFact(data, sub)
	}
	if reader == nil {
		return b.Scratch.Body(store.Pos{Shard: b.shard, Index: index, Sub: sub}, nil)
	}
	return reader.Read(index, sub)
}

// NewReader returns a reader that reads ahead.
func (b *Bodies) NewReader() *store.Reader { return b.Scratch.NewReader(b.shard) }

// Release releases a body that is not needed any more.
func (b *Bodies) Release(index uint64) {
	b.Scratch.Release(b.shard, index, 1)
	b.Released.Add(1)
}
