package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/storage/store"
)

// Browsed is a message as it stands in its queue.
type Browsed struct {
	Handle      queue.Handle
	Env         message.Envelope
	Status      queue.Status // Ready, Unacked, Scheduled or Blocked
	Redelivered bool
	Count       uint32 // how often it came back
	Due         int64  // unix ms not before, 0 none
	Expires     int64  // unix ms, 0 never
	Holder      Holder // of one that is Unacked, as far as it is known
}

// Holder is who has a message. The zero value is somebody.
type Holder struct {
	Until    int64  // unix ms until which it is leased; 0: it is with a consumer, without an end
	Consumer string // the tag of the consumer
	Session  string // the name of the consumer's session
}

// Browser shows the messages that a queue held when it was opened, in the order of the queue and as
// they stand when they are come to; those that have gone by then are left out. Looking changes
// nothing: no message is marked, counted or moved. It is used by one goroutine at a time.
type Browser struct {
	q      *Queue
	ready  bool           // those that are not ready are left out
	hidden bool           // those of HeldBack are shown too
	at     queue.Handle   // the next place to look at
	ends   []queue.Handle // what was published later lies at these or behind them, by priority
	done   bool
	reader *store.Reader

	page []Browsed
	disk []diskPlace // of those of page whose body is not in memory
}

// AwaitDurable is that of the queue.
func (b *Browser) AwaitDurable() error { return b.q.AwaitDurable() }

type diskPlace struct {
	at    int // in page
	index uint64
	sub   uint32
}

// Browse opens a browser. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrClosed.
func (s *Session) Browse(queueName string) (*Browser, error) {
	s.Flush()
	if err := s.may(toRead, "queue", queueName); err != nil {
		return nil, err
	}
	q, err := s.usableQueue(queueName)
	if err != nil {
		return nil, err
	}
	return s.b.browse(q)
}

// BrowseReady opens a browser that leaves out what is not ready. Errors: those of Browse.
func (s *Session) BrowseReady(queueName string) (*Browser, error) {
	b, err := s.Browse(queueName)
	if err == nil {
		b.ready = true
	}
	return b, err
}

// Queue is the queue that the browser shows.
func (b *Browser) Queue() *Queue { return b.q }

// BrowseAll opens a browser that shows what is held back (HeldBack), too. Nobody's rights are asked
// for. Errors: ErrQueueNotFound, ErrClosed.
func (br *Broker) BrowseAll(q *Queue) (*Browser, error) {
	b, err := br.browse(q)
	if err == nil {
		b.hidden = true
	}
	return b, err
}

func (br *Broker) browse(q *Queue) (*Browser, error) {
	b := &Browser{q: q, reader: br.store.NewReader(q.shard.id)}
	gone := false
	if err := q.shard.call(func() { gone, b.at, b.ends = q.gone, q.state.First(), q.state.Ends() }); err != nil {
		return nil, err
	}
	if gone {
		return nil, &Error{Err: ErrQueueNotFound, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	b.done = len(b.ends) == 0
	return b, nil
}

// A page ends at so many messages, or bytes of bodies, or after so many looks: the shard stands
// still for it.
const (
	pageMessages = 256
	pageBytes    = 256 << 10
	pageLooks    = 4096
)

// Next returns the next messages, at most n of them, none at the end. The slice is valid until the
// next call. Errors: ErrQueueNotFound when the queue was deleted, ErrClosed.
func (b *Browser) Next(n int) ([]Browsed, error) {
	for !b.done {
		b.page, b.disk = b.page[:0], b.disk[:0]
		gone := false
		err := b.q.shard.call(func() {
			if gone = b.q.gone; !gone {
				b.collect(min(n, pageMessages))
			}
		})
		switch {
		case err != nil:
			return nil, err
		case gone:
			return nil, b.goneError()
		}
		if b.load(); len(b.page) > 0 {
			return b.page, nil
		}
	}
	return nil, nil
}

// QueueID tells the queue from others of the same name, before it and after it.
func (b *Browser) QueueID() uint64 { return b.q.ID }

// After leaves out all messages up to a place in the queue, and those of higher priorities. It
// comes before the first Next.
func (b *Browser) After(h queue.Handle) { b.at = h + 1 }

func (b *Browser) goneError() error {
	return &Error{Err: ErrQueueNotFound, Kind: "queue", Name: b.q.Name, VHost: b.q.vhost.Name}
}

// collect gathers a page. It runs on the shard's goroutine.
func (b *Browser) collect(n int) {
	if b.ready && b.q.relay == nil {
		b.q.state.Due(b.q.shard.now)
	}
	size, looks, more := 0, 0, false
	b.q.state.Each(b.at, func(it *queue.Item, status queue.Status) bool {
		if b.skipLane(it.Handle) {
			more = !b.done
			return false
		}
		if looks++; len(b.page) == n || size > pageBytes || looks > pageLooks {
			b.at, more = it.Handle, true
			return false
		}
		if b.ready && status != queue.Ready && status != queue.Parked || it.Due == HeldBack && !b.hidden {
			return true
		}
		size += int(it.Size)
		b.add(it, status)
		return true
	})
	b.done = !more
}

// skipLane reports whether h was published after the browser was opened, and goes on with the next
// lower priority then.
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

// add notes one message.
func (b *Browser) add(it *queue.Item, status queue.Status) {
	if status == queue.Parked {
		status = queue.Ready
	}
	env := it.Env
	switch {
	case env != nil:
	case it.Flags&queue.Scratch != 0:
		var err error
		if env, err = b.q.shard.loadAside(it); err != nil {
			return
		}
	default:
		b.disk = append(b.disk, diskPlace{len(b.page), it.Index, it.Sub})
	}
	m := Browsed{
		Handle: it.Handle, Env: env, Status: status, Redelivered: it.Flags&queue.Redelivered != 0, Count: it.Count,
		Due: it.Due, Expires: it.Expires,
	}
	if status == queue.Unacked {
		m.Holder = b.q.holder(it.Handle)
	}
	b.page = append(b.page, m)
}

// holder returns what holds a message: its lease, or the only consumer with deliveries out. Which
// message went to which consumer is not kept. It runs on the shard's goroutine.
func (q *Queue) holder(h queue.Handle) Holder {
	leases := 0
	if ledger := q.content.Jobs; ledger != nil {
		if l := ledger.Leased(h); l != nil {
			return Holder{Until: l.Until}
		}
		leases = ledger.Leases()
	}
	for _, c := range q.consumers.All() {
		if c.Unacked() > 0 && c.Unacked() == q.state.Unacked()-leases {
			c := consumerOf(c)
			return Holder{Consumer: c.Tag, Session: c.session.Name}
		}
	}
	return Holder{}
}

// load reads the bodies that are only on disk. A message that cannot be read is left out: mostly it
// was settled meanwhile, else its delivery will tell.
func (b *Browser) load() {
	var p shardstate.Message
	for _, d := range b.disk {
		fact, err := b.reader.Read(d.index, d.sub)
		if err == nil {
			b.page[d.at].Env, err = bodyOf(fact, &p)
		}
		if err != nil {
			b.page[d.at].Env = nil
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
