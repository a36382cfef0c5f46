package queue

// Numbers of a front lane, which is filled from its front: each message gets the number below the
// lowest one so far. Numbers count down from frontEnd; a lane that counts up never gets above
// frontFloor.
const (
	frontFloor = 1 << 54
	frontEnd   = 1 << 55
)

// NextFront returns the handle for a message in front of all others of a priority, for which
// Publish must never choose numbers. It returns 0 for other priorities, and if there is no room.
func (s *Deliveries) NextFront(priority uint8) Handle {
	seq := uint64(frontEnd)
	if l := s.lane(priority); l != nil && l.next > 1 {
		seq = l.low
	}
	if seq < frontFloor {
		return 0
	}
	return MakeHandle(priority, seq-1)
}

// putFront adds a message whose number is below all others of a front lane.
func (s *Deliveries) putFront(l *lane, seq uint64, it *Item) Handle {
	l.low = seq
	c := l.firstChunk()
	if base := seq &^ (chunkLen - 1); c == nil || c.base != base {
		c = s.addFrontChunk(l, base)
	}
	slot := int(seq - c.base)
	s.put(c, slot, s.placeFront(l, c, slot), it)
	l.noteReady(c)
	return c.handle(slot)
}

// firstChunk returns the chunk at the head of the row, or nil if there is none.
func (l *lane) firstChunk() *chunk {
	if l.head == len(l.row) {
		return nil
	}
	return l.row[l.head].chunk
}

// addFrontChunk adds an empty chunk in front of all others of a lane.
func (s *Deliveries) addFrontChunk(l *lane, base uint64) *chunk {
	c := newChunk(l, base)
	if l.tail != nil && l.tail.live == 0 && l.firstChunk() == l.tail {
		s.drop(l.tail)
		l.row, l.head, l.dead, l.cur = l.row[:0], 0, 0, 0
	}
	l.unshift(c)
	return c
}

// unshift inserts a chunk in front of all others of the row. This changes indexes of row.
func (l *lane) unshift(c *chunk) {
	if l.head == len(l.row) {
		l.row, l.head, l.cur = l.row[:0], 0, 0
		l.push(c)
		return
	}
	if l.head == 0 {
		n := len(l.row) + 4
		l.row = append(make([]rowEntry, n, n+len(l.row)), l.row...)
		l.head, l.cur = n, l.cur+n
	}
	l.cur = max(l.cur, l.head) // otherwise c might take its place
	l.head--
	l.row[l.head] = rowEntry{c.base, c}
}

// placeFront makes room for a slot of the first chunk, in front of all its others.
func (s *Deliveries) placeFront(l *lane, c *chunk, slot int) *Item {
	if c.packed != nil {
		s.unpack(c)
	}
	if len(c.items) == 0 {
		c.off = uint16(slot + 1)
	}
	if slot < int(c.off) {
		s.growFront(l, c, slot)
	}
	return &c.items[slot-int(c.off)]
}

// growFront moves the items of a chunk to the end of an array that has room for a slot before them.
func (s *Deliveries) growFront(l *lane, c *chunk, slot int) {
	end, old := int(c.off)+len(c.items), c.items
	if len(old) > 0 || cap(old) == 0 {
		n := end - slot
		if old == nil && len(l.row)-l.head > 1 {
			n = end // the lane is deep, so grow at once
		}
		items := getItems(n)
		items = items[:min(cap(items), end)]
		copy(items[len(items)-len(old):], old)
		clear(old)
		s.setItems(c, items)
		putItems(old)
	} else {
		s.setItems(c, old[:min(cap(old), end)])
	}
	c.off = uint16(end - len(c.items))
}
