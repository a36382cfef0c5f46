package queue

// Settle removes a live message, whatever its status, and returns it; false if it is not in the
// queue.
func (s *State) Settle(h Handle) (Item, bool) {
	c, slot, status := s.find(h)
	if status == Gone {
		return Item{}, false
	}
	var out Item
	if c.packed == nil {
		it := c.hotItem(slot)
		out = *it
		s.remove(c, slot, status, it)
	} else {
		out = c.decode(slot)
		s.move(c, slot, status, Gone, out.Size)
	}
	if c.live == 0 || c.packed != nil {
		l := c.lane
		s.retire(c)
		l.trim()
	}
	return out, true
}

// SettleRange settles the live messages among the n consecutive handles from h and returns how many
// there were. It calls fn, which may be nil, for each of them.
func (s *State) SettleRange(h Handle, n int, fn func(*Item)) int {
	l := s.lane(h.Priority())
	if l == nil || n <= 0 {
		return 0
	}
	settled := 0
	w := getWalker()
	defer w.release()
	lo, end := h.Seq(), h.Seq()+uint64(n)
	for i := l.lowerBound(lo &^ (chunkLen - 1)); i < len(l.row) && l.row[i].base < end; i++ {
		c := l.row[i].chunk
		if c == nil {
			continue
		}
		for w.startAt(c, lo); w.next() && c.base+uint64(w.slot) < end; {
			s.take(c, w, fn)
			settled++
		}
		s.retire(c)
	}
	l.trim()
	return settled
}

// take removes the message at the walker's position, after calling fn for it.
func (s *Deliveries) take(c *chunk, w *walker, fn func(*Item)) {
	if fn != nil {
		fn(w.it)
	}
	s.remove(c, w.slot, c.status(w.slot), w.it)
}

// Purge removes all ready messages, including parked ones. It calls run for each run of consecutive
// handles, and release for each message; either may be nil.
func (s *State) Purge(run func(start Handle, n int), release func(*Item)) {
	var start Handle
	n := 0
	flush := func() {
		if n > 0 && run != nil {
			run(start, n)
		}
	}
	w := getWalker()
	defer w.release()
	for _, l := range s.lanes {
		for i := l.head; i < len(l.row) && (l.ready > 0 || s.count[Parked] > 0); i++ {
			c := l.row[i].chunk
			if c == nil || c.ready == 0 && c.state[Parked-1].empty() {
				continue
			}
			for w.start(c); w.next(); {
				if !c.state[Ready-1].has(w.slot) && !c.state[Parked-1].has(w.slot) {
					continue
				}
				if h := c.handle(w.slot); n == 0 || h != start+Handle(n) {
					flush()
					start, n = h, 0
				}
				n++
				s.take(c, w, release)
			}
			s.retire(c)
		}
		l.trim()
	}
	flush()
	s.checkInvariants()
}
