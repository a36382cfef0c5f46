package inspect

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Message is a message as it stands in its queue.
type Message struct {
	Handle      queue.Handle
	Env         message.Envelope
	Status      queue.Status // Ready, Unacked, Scheduled or Blocked
	Redelivered bool
	Count       uint32 // how often it was returned
	Due         int64  // unix ms, not delivered before; 0: none
	Expires     int64  // unix ms, 0: never
	Holder      Holder // for Unacked, as far as it is known
}

// Holder has an unacked message. The zero value means that the holder is unknown.
type Holder struct {
	Until    int64  // unix ms until which it is leased; 0: a consumer has it, without a deadline
	Consumer string // the tag of the consumer
	Session  string // the name of the consumer's session
}

// Browser shows the messages that a queue held when the browser was opened, in queue order. It
// shows each as it is when its turn comes, and omits those that have gone by then. It is for one
// goroutine at a time.
type Browser struct {
	b      *broker.Broker
	q      *shard.Queue
	ready  bool           // show only ready messages
	hidden bool           // also show those with broker.HeldBack
	at     queue.Handle   // the next position to look at
	ends   []queue.Handle // by priority: messages published after the browser was opened have these handles or later ones
	done   bool
	reader *store.Reader

	page []Message
	disk []diskPlace // of those of page whose body is not in memory
}

type diskPlace struct {
	at    int // in page
	index uint64
	sub   uint32
}

// Browse opens a browser. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrClosed.
func Browse(s *broker.Session, queue string) (*Browser, error) {
	s.Flush()
	f := s.Finder()
	q, err := f.Queue(broker.Reading, queue, false)
	if err != nil {
		return nil, err
	}
	return open(&Browser{b: f.Broker(), q: q})
}

// BrowseReady opens a browser that shows only ready messages. Errors: those of Browse.
func BrowseReady(s *broker.Session, queue string) (*Browser, error) {
	b, err := Browse(s, queue)
	if err == nil {
		b.ready = true
	}
	return b, err
}

// BrowseAll opens a browser that also shows messages that are held back (broker.HeldBack). It
// checks no permissions. Errors: ErrQueueNotFound, ErrClosed.
func BrowseAll(b *broker.Broker, q *shard.Queue) (*Browser, error) {
	return open(&Browser{b: b, q: q, hidden: true})
}

func open(b *Browser) (*Browser, error) {
	b.reader = b.b.NewReader(b.q)
	err := b.ask(func(at shard.Context) { b.at, b.ends = at.Deliveries().First(), at.Deliveries().Ends() })
	if err != nil {
		return nil, err
	}
	b.done = len(b.ends) == 0
	return b, nil
}

// ask runs fn at the shard of the queue. Errors: ErrQueueNotFound if the queue was deleted,
// ErrClosed.
func (b *Browser) ask(fn func(shard.Context)) error {
	gone := false
	err := b.b.At(b.q, func(at shard.Context) {
		if gone = at.Gone(); !gone {
			fn(at)
		}
	})
	if err == nil && gone {
		err = b.q.Fail(failure.ErrQueueNotFound)
	}
	return err
}

// Queue returns the queue. Its ID distinguishes it from earlier and later queues with its name.
func (b *Browser) Queue() *shard.Queue { return b.q }

// After skips all messages up to a position in the queue, and those of higher priorities. It must
// be called before the first Next.
func (b *Browser) After(h queue.Handle) { b.at = h + 1 }

// Seek skips all messages before a position in the queue. It must be called before the first Next.
func (b *Browser) Seek(h queue.Handle) { b.at = max(b.at, h) }

// Skip skips the messages before a position, within the priority that Next has reached, and returns
// their number without looking at them. Errors: those of Next.
func (b *Browser) Skip(to queue.Handle) (n int, err error) {
	if b.done {
		return 0, nil
	}
	err = b.ask(func(at shard.Context) {
		if b.skipLane(b.at) {
			return
		}
		if to.Priority() > b.at.Priority() || to > b.ends[0] {
			to = b.ends[0]
		}
		n = at.Deliveries().Between(b.at, to)
		b.at = max(b.at, to)
	})
	return n, err
}

// pageBytes bounds the bodies of a page, beside broker.PageMessages and broker.PageLooks.
const pageBytes = 256 << 10

// Next returns the next messages, at most n, none at the end. The slice is valid until the next
// call. Errors: ErrQueueNotFound if the queue was deleted, ErrClosed.
func (b *Browser) Next(n int) ([]Message, error) {
	for !b.done {
		b.page, b.disk = b.page[:0], b.disk[:0]
		if err := b.ask(func(at shard.Context) { b.collect(at, min(n, shard.PageMessages)) }); err != nil {
			return nil, err
		}
		if b.load(); len(b.page) > 0 {
			return b.page, nil
		}
	}
	return nil, nil
}

// collect reads a page of at most n messages.
func (b *Browser) collect(at shard.Context, n int) {
	if b.ready {
		at.Deliveries().Due(at.Now())
	}
	size, looks, more := 0, 0, false
	at.Deliveries().Each(b.at, func(it *queue.Item, status queue.Status) bool {
		if b.skipLane(it.Handle) {
			more = !b.done
			return false
		}
		if looks++; len(b.page) == n || size > pageBytes || looks > shard.PageLooks {
			b.at, more = it.Handle, true
			return false
		}
		if b.ready && status != queue.Ready && status != queue.Parked || it.Due == shard.HeldBack && !b.hidden {
			return true
		}
		size += int(it.Size)
		b.add(at, it, status)
		return true
	})
	b.done = !more
}

// skipLane reports whether h was published after the browser was opened; the browser then continues
// with the next lower priority.
func (b *Browser) skipLane(h queue.Handle) bool {
	for len(b.ends) > 0 && b.ends[0].Priority() > h.Priority() {
		b.ends = b.ends[1:]
	}
	if len(b.ends) > 0 && b.ends[0].Priority() == h.Priority() && h < b.ends[0] {
		return false
	}
	if b.done = h.Priority() == 0; !b.done {
		b.at = queue.MakeHandle(h.Priority()-1, 1)
	}
	return true
}

// add appends one message to the page.
func (b *Browser) add(at shard.Context, it *queue.Item, status queue.Status) {
	if status == queue.Parked {
		status = queue.Ready
	}
	env := it.Env
	switch {
	case env != nil:
	case it.Flags&queue.Scratch != 0:
		var err error
		if env, err = at.Load(it); err != nil {
			return
		}
	default:
		b.disk = append(b.disk, diskPlace{len(b.page), it.Index, it.Sub})
	}
	m := Message{
		Handle: it.Handle, Env: env, Status: status, Redelivered: it.Flags&queue.Redelivered != 0, Count: it.Count,
		Due: it.Due, Expires: it.Expires,
	}
	if status == queue.Unacked {
		m.Holder = holderOf(at, it.Handle)
	}
	b.page = append(b.page, m)
}

// holderOf returns the holder of a message: its lease, or the only consumer with deliveries out.
// The queue does not record which consumer got which message.
func holderOf(at shard.Context, h queue.Handle) Holder {
	leases := 0
	if ledger := at.Content().Jobs; ledger != nil {
		if l := ledger.Leased(h); l != nil {
			return Holder{Until: l.Until}
		}
		leases = ledger.Leases()
	}
	for _, c := range at.Consumers().All() {
		if !c.Reads && c.Unacked() > 0 && c.Unacked() == at.Deliveries().Unacked()-leases {
			c := shard.ConsumerOf(c)
			return Holder{Consumer: c.Tag, Session: c.Session()}
		}
	}
	return Holder{}
}

// load reads the bodies that are only on disk. It omits a message that cannot be read: usually it
// was settled meanwhile; otherwise its delivery reports the error.
func (b *Browser) load() {
	var m shardstate.Message
	for _, d := range b.disk {
		if fact, err := b.reader.Read(d.index, d.sub); err == nil && m.Decode(fact) == nil {
			b.page[d.at].Env = m.Env
		}
	}
	if len(b.disk) == 0 {
		return
	}
	kept := b.page[:0]
	for _, m := range b.page {
		if m.Env != nil {
			kept = append(kept, m)
		}
	}
	b.page = kept
}
