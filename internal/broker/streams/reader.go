package streams

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// Start is where a reader of a declared stream begins.
type Start struct {
	From From
	N    int64 // for AtOffset the offset, for AtTime Unix ms
}

// From is where a Start lies.
type From uint8

// The positions where a reader may begin.
const (
	Next     From = iota // entries from now on
	First                // the first existing entry
	Last                 // the last existing entry
	AtOffset             // the entry with an offset, or the first one after it
	AtTime               // the first entry that is not older
)

// OffsetOf returns the offset of an entry: its number, from 0, among all that were ever published
// to the queue. It does not change when earlier entries go.
func OffsetOf(h queue.Handle) int64 { return int64(h.Seq()) - 1 }

// Declared reports whether a queue that the session may read is a declared stream. Errors:
// ErrAccessRefused, ErrQueueNotFound, ErrExclusive.
func Declared(s *broker.Session, queue string) (bool, error) {
	q, err := s.Finder().Queue(broker.Reading, queue, false)
	return err == nil && q.Declared.Stream, err
}

// Consume registers a consumer that reads a declared stream from start on, independently of all
// others, and removes nothing. spec.Prefetch, at least 1, is how many entries are out at a time;
// any acknowledgement of them makes room for more. Entries that admits refuses are skipped; nil:
// none. Errors: those of Session.Consume, ErrWrongKind.
func Consume(s *broker.Session, spec shard.ConsumerSpec, from Start, admits func(message.Envelope) bool) (*shard.Consumer, error) {
	spec.Reader = &reader{from: from, admits: admits}
	return s.Consume(spec)
}

// maxOffset is greater than all offsets, and its handle still has the lowest priority.
const maxOffset = 1 << 50

// in returns the handle at which a reader begins.
func (f Start) in(at shard.Context) (h queue.Handle) {
	s := at.Content().Stream
	h = queue.MakeHandle(0, at.Deliveries().NextSeq(0))
	first, last, ok := s.Handles()
	switch {
	case f.From == AtOffset:
		return queue.MakeHandle(0, uint64(min(f.N, maxOffset))+1)
	case !ok:
	case f.From == First:
		return first
	case f.From == Last:
		return last
	case f.From == AtTime:
		s.Ascend(stream.ID{Ms: uint64(max(f.N, 0))}, func(_ stream.ID, found queue.Handle) bool {
			h = found
			return false
		})
	}
	return h
}

// reader is the position of a consumer in a stream.
type reader struct {
	from   Start
	next   queue.Handle // handle of the next entry to look at
	admits func(message.Envelope) bool
	bodies *bodies.Reader // nil while it reads nothing from disk
	again  bool           // another look is pending
	item   queue.Item     // the current item
}

// Start implements shard.Reader.
func (r *reader) Start(at shard.Context) { r.next = r.from.in(at) }

// Read implements shard.Reader.
func (r *reader) Read(at shard.Context, give func(*queue.Item) bool) {
	looks, more := 0, false
	at.Deliveries().Each(r.next, func(it *queue.Item, _ queue.Status) bool {
		if looks == shard.PageLooks {
			r.lookAgain(at.Queue())
			more = true
			return false
		}
		looks++
		r.next = it.Handle + 1
		if !r.load(at, it) || r.admits != nil && !r.admits(r.item.Env) {
			return true
		}
		more = !give(&r.item)
		return !more
	})
	if !more {
		r.bodies = nil // it has caught up with the end, where entries are in memory
	}
}

// load prepares the current item; false if its body cannot be read.
func (r *reader) load(at shard.Context, it *queue.Item) bool {
	r.item = *it
	r.item.Flags &^= queue.Redelivered // by others, or a crash
	r.item.Count = 0
	if it.Env != nil {
		return true
	}
	if r.bodies == nil {
		r.bodies = at.Bodies().NewReader()
	}
	env, err := at.Bodies().Load(r.bodies, it)
	if err != nil {
		at.Unreadable(it, err)
		return false
	}
	r.item.Env = env
	return true
}

// lookAgain makes the shard attend to the queue once more, after other pending work.
func (r *reader) lookAgain(q *shard.Queue) {
	if r.again {
		return
	}
	r.again = true
	q.Send(shard.Op{Kind: shard.OpCall, Extra: func() {
		r.again = false
		if at := shard.ContextOf(q); !at.Gone() {
			at.Changed()
		}
	}})
}
