// Package bodies reads the messages of a shard that are not in memory. Persistent messages are in
// the log. Transient ones that do not fit in memory are in a scratch log of their own, which is
// written, never synced, and deleted at the start.
package bodies

import (
	"slices"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Shared is what the shards of one broker share.
type Shared struct {
	Log      *store.Store
	Scratch  *store.Store      // the scratch log; nil: there is none
	Moved    func(bytes int64) // called with changes of the memory taken by bodies on their way to the scratch log
	Released atomic.Int64      // bodies released since segments were last deleted
}

// MaxReaders is how many read-ahead buffers a shard has.
const MaxReaders = 32

// Bodies are the bodies of one shard. The methods are for the goroutine that runs the shard.
type Bodies struct {
	*Shared
	shard uint32
	fact  shardstate.Message // the last one read
	open  []*Reader          // with a buffer, oldest first
	spill spill
}

// Reader reads ahead for one queue. The zero value has no buffer yet.
type Reader struct {
	log, scratch *store.Reader
	unlisted     bool // its buffer is never given to another reader
}

// New returns the bodies of a shard. post runs a function on the shard's goroutine, and does not
// wait for it.
func New(s *Shared, shard uint32, post func(func()) bool) *Bodies {
	return &Bodies{Shared: s, shard: shard, spill: spill{post: post, index: 1, pending: map[uint64][]byte{}}}
}

// NewReader returns a separate reader, which reads ahead in the order of a queue. The queue's own
// reader keeps its position.
func (b *Bodies) NewReader() *Reader { return &Reader{unlisted: true} }

// Load returns the item's message. If it is only on disk, Load reads it and the messages after it;
// then it is valid until the next call.
func (b *Bodies) Load(r *Reader, it *queue.Item) (message.Envelope, error) {
	if it.Env != nil {
		return it.Env, nil
	}
	if it.Flags&queue.Scratch != 0 {
		if r.scratch == nil {
			r.scratch = b.Scratch.NewReader(b.shard)
		}
		return b.decoded(b.readSpilled(it, r.scratch))
	}
	if r.log == nil {
		b.openReader(r)
	}
	return b.decoded(r.log.Read(it.Index, it.Sub))
}

// LoadAside is Load for a single message out of order.
func (b *Bodies) LoadAside(it *queue.Item) (message.Envelope, error) {
	if it.Env != nil {
		return it.Env, nil
	}
	if it.Flags&queue.Scratch != 0 {
		return b.decoded(b.readSpilled(it, nil))
	}
	return b.decoded(b.Log.Body(store.Pos{Shard: b.shard, Index: it.Index, Sub: it.Sub}, nil))
}

func (b *Bodies) decoded(fact []byte, err error) (message.Envelope, error) {
	if err == nil {
		err = b.fact.Decode(fact)
	}
	if err != nil {
		return nil, err
	}
	return b.fact.Env, nil
}

// openReader gives the reader a buffer. If there are too many, the reader with the oldest one loses
// its buffer.
func (b *Bodies) openReader(r *Reader) {
	r.log = b.Log.NewReader(b.shard)
	if r.unlisted {
		return
	}
	if len(b.open) == MaxReaders {
		b.open[0].log = nil
		b.open = slices.Delete(b.open, 0, 1)
	}
	b.open = append(b.open, r)
}

// CloseReader drops the buffer over the log.
func (b *Bodies) CloseReader(r *Reader) {
	if r.log != nil {
		r.log = nil
		b.open = slices.DeleteFunc(b.open, func(have *Reader) bool { return have == r })
	}
}

// Open reports whether the reader has a buffer.
func (r *Reader) Open() bool { return r.log != nil }

// Listed returns how many readers have a buffer.
func (b *Bodies) Listed() int { return len(b.open) }
