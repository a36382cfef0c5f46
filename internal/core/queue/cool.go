package queue

// Cool frees memory until HotBytes is at most keep, as far as possible, by dropping envelopes whose
// body is on disk and packing chunks without envelopes. It starts with messages that will be
// delivered last, and continues with chunks before the cursor. Chunks at the cursor and at the end
// lose envelopes only if that was not enough, and are never packed.
//
// A persistent message loses its envelope if its Index is at most written, a Scratch message
// always. Any other message loses it only if spill, which may be nil, returns a position in the
// scratch log.
func (s *Deliveries) Cool(written uint64, keep int64, spill func(*Item) (index uint64, sub uint32, ok bool)) {
	if s.hotBytes <= keep {
		return
	}
	w := cooler{s: s, written: written, keep: keep, spill: spill}
	for c := s.hotTail; c != nil && s.hotBytes > keep; {
		prev := c.hotPrev
		if !c.busy() && !c.passed() {
			w.cool(c)
		}
		c = prev
	}
	for c := s.hotHead; c != nil && s.hotBytes > keep; {
		next := c.hotNext
		if !c.busy() && c.passed() {
			w.cool(c)
		}
		c = next
	}
	for c := s.hotTail; c != nil && s.hotBytes > keep; c = c.hotPrev {
		if c.busy() {
			w.thin(c)
			s.fit(c)
		}
	}
	s.checkInvariants()
}

// busy reports whether the next delivery or publish of the lane uses c.
func (c *chunk) busy() bool {
	l := c.lane
	return c == l.tail || l.ready > 0 && c == l.headChunk()
}

// passed reports whether c is before the delivery cursor.
func (c *chunk) passed() bool { return c.base < c.lane.row[c.lane.cur].base }

type cooler struct {
	s       *Deliveries
	written uint64
	keep    int64
	spill   func(*Item) (index uint64, sub uint32, ok bool)
}

// cool drops the envelopes of a chunk, and packs the chunk if none is left.
func (w *cooler) cool(c *chunk) {
	if !c.mixed && c.loIndex > w.written {
		return // none of it is on disk yet
	}
	left := false
	live := c.liveMap()
	for slot := live.from(0); slot < chunkLen; slot = live.from(slot + 1) {
		if !w.drop(c, c.hotItem(slot)) {
			left = true
		}
	}
	if !left {
		w.s.pack(c)
	}
}

// thin drops envelopes of a chunk, last message first, until enough memory is free.
func (w *cooler) thin(c *chunk) {
	live := c.liveMap()
	for slot := live.last(); slot >= 0 && w.s.hotBytes > w.keep; slot = live.last() {
		w.drop(c, c.hotItem(slot))
		live.clear(slot)
	}
}

// fit moves the live messages of a hot chunk to a smaller array if they fit.
func (s *Deliveries) fit(c *chunk) {
	live := c.liveMap()
	first, end := live.from(0), live.last()+1
	if c.live == 0 || end-first > cap(c.items)/4 || cap(c.items) == 8 {
		return
	}
	old := c.items
	i := first - int(c.off)
	items := append(getItems(end-first), old[i:i+end-first]...)
	clear(old)
	s.setItems(c, items)
	c.off = uint16(first)
	putItems(old)
}

// drop frees the envelope of a message. It returns false if the envelope must stay.
func (w *cooler) drop(c *chunk, it *Item) bool {
	if it.Env == nil {
		return true
	}
	switch {
	case it.Flags&Scratch != 0:
	case it.Flags&Persistent != 0:
		if it.Index == 0 || it.Index > w.written {
			return false
		}
	case w.spill == nil:
		return false
	default:
		index, sub, ok := w.spill(it)
		if !ok {
			return false
		}
		it.Index, it.Sub = index, sub
		it.Flags |= Scratch
	}
	w.s.hotBytes -= int64(len(it.Env))
	it.Env = nil
	return true
}
