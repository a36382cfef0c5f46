package broker

import (
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
)

// StreamEntry is an entry of a stream.
type StreamEntry struct {
	ID  stream.ID
	Env message.Envelope // nil: it is gone. Not to be changed
}

// page is entries on their way to the caller: the bodies that are only on disk are read on the caller's goroutine.
type page struct {
	shard   *shard
	entries []StreamEntry
	handles []queue.Handle // of the entries; 0: gone
	disk    []diskPlace
	bounded bool  // what does not fit into lookBytes is not shown
	size    int64 // bytes that the entries take
	fit     int   // so many entries fit; 0: all
}

// add puts an entry on the page.
func (p *page) add(id stream.ID, h queue.Handle) bool {
	p.entries = append(p.entries, StreamEntry{ID: id})
	p.handles = append(p.handles, h)
	return true
}

// look finds the messages of the entries on the page. It runs on the shard's goroutine.
func (p *page) look(sh *shard, q *Queue) {
	p.shard = sh
	for i, h := range p.handles {
		if h == 0 {
			continue
		}
		it, status := q.state.Get(h)
		if status != queue.Gone {
			p.found(i, it)
		}
	}
}

// lookAlong is look for a page of neighbours in order: one walk through the queue.
func (p *page) lookAlong(sh *shard, q *Queue) {
	if len(p.handles) < 4 {
		p.look(sh, q)
		return
	}
	p.shard = sh
	i := 0
	q.state.Each(p.handles[0], func(it *queue.Item, _ queue.Status) bool {
		if i < len(p.handles) && it.Handle == p.handles[i] {
			p.found(i, it)
			i++
		}
		return i < len(p.handles)
	})
}

func (p *page) found(i int, it *queue.Item) {
	if p.size += shownBytes + int64(it.Size); p.bounded && p.size > p.shard.b.lookBytes && p.fit == 0 {
		p.fit = max(i, 1)
	}
	if p.fit > 0 && i >= p.fit {
		return
	}
	if it.Env != nil {
		p.entries[i].Env = it.Env
		return
	}
	p.disk = append(p.disk, diskPlace{i, it.Index, it.Sub})
}

// read reads what is only on disk and gives the entries out. One that cannot be read is gone: mostly it was deleted just now.
func (p *page) read(s *Session) []StreamEntry {
	if len(p.disk) > 0 {
		reader := s.b.store.NewReader(p.shard.id)
		var f published
		for _, d := range p.disk {
			if fact, err := reader.Read(d.index, d.sub); err == nil {
				p.entries[d.at].Env, _ = publishedEnvelope(fact, &f)
			}
		}
	}
	out := p.entries
	*p = page{}
	return out
}

// withoutGone leaves out the entries that are gone.
func withoutGone(list []StreamEntry) []StreamEntry {
	return slices.DeleteFunc(list, func(e StreamEntry) bool { return e.Env == nil })
}

// cut leaves out what does not fit.
func (p *page) cut() {
	if p.fit > 0 {
		p.entries, p.handles = p.entries[:p.fit], p.handles[:p.fit]
	}
}

// StreamRange looks at entries. Errors: ErrTooLarge, when they would take more than a quarter of the memory that the broker may use.
type StreamRange struct {
	OnStream
	From, To stream.ID
	Back     bool // from To down to From
	Max      int  // at most so many; 0: all

	Entries []StreamEntry

	page page
}

func (r *StreamRange) find(s *Session) (*Queue, error) { return r.findStream(s, toRead) }

func (r *StreamRange) run(sh *shard, q *Queue) error {
	r.page, r.Entries = page{bounded: true}, nil
	s, err := r.stream(sh, q)
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
	if r.page.lookAlong(sh, q); r.page.fit > 0 && len(r.page.entries) > 1 {
		r.page = page{}
		return q.tooMuch()
	}
	return nil
}

func (r *StreamRange) finish(s *Session) {
	r.Entries = withoutGone(r.page.read(s))
	if r.Back {
		slices.Reverse(r.Entries)
	}
}

// StreamRead looks at the entries behind one, as many as fit into a quarter of the memory that the broker may use.
type StreamRead struct {
	OnStream
	After  stream.ID
	Latest bool // After is the last there is when the command runs first
	Create bool // the queue is declared when there is none: for who waits
	Max    int  // at most so many; 0: all

	Entries []StreamEntry

	page page
}

func (r *StreamRead) find(s *Session) (*Queue, error) {
	if r.Create {
		return r.findOrMakeQueue(s, toRead)
	}
	q, err := r.findStream(s, toRead)
	if r.Missing && r.Latest {
		r.After, r.Latest = stream.ID{}, false
	}
	return q, err
}

func (r *StreamRead) got() bool { return len(r.page.entries)+len(r.Entries) > 0 }

func (r *StreamRead) run(sh *shard, q *Queue) error {
	r.page, r.Entries = page{bounded: true}, nil
	s, err := r.stream(sh, q)
	if s == nil {
		if err == nil {
			r.Latest = false // all that comes is new
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
	r.page.lookAlong(sh, q)
	r.page.cut()
	return nil
}

func (r *StreamRead) finish(s *Session) { r.Entries = withoutGone(r.page.read(s)) }
