package streams

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// Entry is an entry of a stream.
type Entry struct {
	ID  stream.ID
	Env message.Envelope // nil: the entry no longer exists. Must not be changed
}

// page is entries on their way to the caller. Bodies that are only on disk are read on the caller's
// goroutine.
type page struct {
	entries []Entry
	handles []queue.Handle // of the entries; 0: no longer exists
	later   bodies.Later   // by index in entries
	bounded bool           // bytes that a page may have; the rest is not shown
	size    int64          // bytes that the entries take, as far as they were looked at
	taken   int64          // bytes of the entries that take has added
	fit     int            // how many entries fit; 0: all
}

// add adds an entry to the page.
func (p *page) add(id stream.ID, h queue.Handle) bool {
	p.entries = append(p.entries, Entry{ID: id})
	p.handles = append(p.handles, h)
	return true
}

// take adds an entry that a command gives out, and reports whether it may give out another one.
func (p *page) take(at shard.Context, id stream.ID, h queue.Handle) (more bool) {
	p.add(id, h)
	p.taken += shard.ShownBytes
	if h != 0 {
		if it, status := at.Deliveries().Get(h); status != queue.Gone {
			p.taken += int64(it.Size)
		}
	}
	return p.taken < at.LookBytes()
}

// look finds the messages of the entries on the page. It runs on the shard's goroutine.
func (p *page) look(at shard.Context) {
	for i, h := range p.handles {
		if h == 0 {
			continue
		}
		it, status := at.Deliveries().Get(h)
		if status != queue.Gone {
			p.found(at, i, it)
		}
	}
}

// lookAlong is look for a page of neighbours in order, with one walk through the queue.
func (p *page) lookAlong(at shard.Context) {
	if len(p.handles) < 4 {
		p.look(at)
		return
	}
	i := 0
	at.Deliveries().Each(p.handles[0], func(it *queue.Item, _ queue.Status) bool {
		if i < len(p.handles) && it.Handle == p.handles[i] {
			p.found(at, i, it)
			i++
		}
		return i < len(p.handles)
	})
}

func (p *page) found(at shard.Context, i int, it *queue.Item) {
	if p.size += shard.ShownBytes + int64(it.Size); p.bounded && p.size > at.LookBytes() && p.fit == 0 {
		p.fit = max(i, 1)
	}
	if p.fit > 0 && i >= p.fit {
		return
	}
	p.entries[i].Env = p.later.Load(at.Bodies(), it, i)
}

// read reads bodies that are only on disk, and returns the entries. An entry that cannot be read
// counts as gone: usually it was just deleted.
func (p *page) read() []Entry {
	p.later.Read(func(i int, env message.Envelope) { p.entries[i].Env = env })
	out := p.entries
	*p = page{}
	return out
}

// withoutGone omits the entries that no longer exist.
func withoutGone(list []Entry) []Entry {
	return slices.DeleteFunc(list, func(e Entry) bool { return e.Env == nil })
}

// cut omits entries that do not fit.
func (p *page) cut() {
	if p.fit > 0 {
		p.entries, p.handles = p.entries[:p.fit], p.handles[:p.fit]
	}
}

// Range reads entries. Errors: ErrTooLarge if they would take more than a quarter of the memory
// that the broker may use.
type Range struct {
	OnStream
	From, To stream.ID
	Back     bool // from To down to From
	Max      int  // at most this many; 0: all

	Entries []Entry

	page page
}

func (r *Range) Find(f broker.Finder) (*shard.Queue, error) { return r.findStream(f, broker.Reading) }

func (r *Range) Run(at shard.Context) error {
	r.page, r.Entries = page{bounded: true}, nil
	s, err := r.stream(at)
	if s == nil {
		return err
	}
	add := func(id stream.ID, h queue.Handle) bool {
		if id.Before(r.From) || r.To.Before(id) {
			return false
		}
		r.page.add(id, h)
		return len(r.page.entries) != r.Max
	}
	if !r.Back {
		s.Ascend(r.From, add)
	} else {
		s.Descend(r.To, add)
		slices.Reverse(r.page.entries)
		slices.Reverse(r.page.handles)
	}
	if r.page.lookAlong(at); r.page.fit > 0 && len(r.page.entries) > 1 {
		r.page = page{}
		return at.Queue().Fail(failure.ErrTooLarge)
	}
	return nil
}

func (r *Range) Finish(*broker.Session) {
	r.Entries = withoutGone(r.page.read())
	if r.Back {
		slices.Reverse(r.Entries)
	}
}

// Read reads the entries after an id, as many as fit into a quarter of the memory that the broker
// may use.
type Read struct {
	OnStream
	After  stream.ID
	Latest bool // set After to the last id that the command finds first
	Create bool // declare a missing queue, so that Await can wait at it
	Max    int  // at most this many; 0: all

	Entries []Entry

	page page
}

// Find takes the last id of a missing stream before it declares its queue: by then others may have
// added entries, which came after the command.
func (r *Read) Find(f broker.Finder) (*shard.Queue, error) {
	q, err := r.findStream(f, broker.Reading)
	if !r.Missing {
		return q, err
	}
	if r.Latest {
		r.After, r.Latest = stream.ID{}, false
	}
	if r.Create {
		return r.findOrMakeQueue(f, broker.Reading)
	}
	return q, err
}

// Got implements the method that Await asks for.
func (r *Read) Got() bool { return len(r.page.entries)+len(r.Entries) > 0 }

// AwaitsStream marks a command that keeps waiting at a queue of another kind.
func (*Read) AwaitsStream() {}

func (r *Read) Run(at shard.Context) error {
	r.page, r.Entries = page{bounded: true}, nil
	s, err := r.stream(at)
	if s == nil {
		if err == nil {
			r.Latest = false // every entry that comes is new
		}
		return err
	}
	if r.Latest {
		r.After, r.Latest = s.Last(), false
	}
	next, ok := r.After.Next()
	if !ok {
		return nil
	}
	s.Ascend(next, func(id stream.ID, h queue.Handle) bool {
		r.page.add(id, h)
		return len(r.page.entries) != r.Max
	})
	r.page.lookAlong(at)
	r.page.cut()
	return nil
}

func (r *Read) Finish(*broker.Session) { r.Entries = withoutGone(r.page.read()) }
