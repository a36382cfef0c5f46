package queue

// Park sets an unacked message aside as if it had never been delivered: it counts as ready and
// keeps its position, but Next skips it. Lend takes it. It returns false if the message is not
// unacked.
func (s *Deliveries) Park(h Handle) bool {
	c, slot, status := s.find(h)
	if status != Unacked {
		return false
	}
	it := c.item(slot)
	s.move(c, slot, Unacked, Parked, it.Size)
	if it.Expires != 0 {
		s.lowerKey(&s.expiring, c, byExpiry, it.Expires)
	}
	return true
}

// UnparkAll makes all parked messages ready for Next again.
func (s *Deliveries) UnparkAll() {
	if s.count[Parked] == 0 {
		return
	}
	for _, l := range s.lanes {
		for _, e := range l.row[l.head:] {
			c := e.chunk
			if c == nil || c.state[Parked-1].empty() {
				continue
			}
			n := c.state[Parked-1].count()
			for i, w := range c.state[Parked-1] {
				c.state[Ready-1][i] |= w
			}
			c.state[Parked-1] = bitmap{}
			c.ready += uint16(n)
			l.ready += n
			s.ready[l.priority>>6] |= 1 << (l.priority & 63)
			l.noteReady(c)
		}
	}
	s.count[Ready] += s.count[Parked]
	s.bytes[Ready] += s.bytes[Parked]
	s.count[Parked], s.bytes[Parked] = 0, 0
	s.checkInvariants()
}

// Block takes a message that is ready, parked or scheduled out of delivery until Unblock. It
// returns false if the message is none of these.
func (s *Deliveries) Block(h Handle) bool {
	c, slot, status := s.find(h)
	if status != Ready && status != Parked && status != Scheduled {
		return false
	}
	s.move(c, slot, status, Blocked, c.item(slot).Size)
	return true
}

// Unblock makes a blocked message ready, or scheduled if it has a Due time. It returns false if the
// message is not blocked.
func (s *Deliveries) Unblock(h Handle) bool {
	c, slot, status := s.find(h)
	if status != Blocked {
		return false
	}
	it := c.item(slot)
	if it.Due != 0 {
		s.move(c, slot, Blocked, Scheduled, it.Size)
		s.lowerKey(&s.due, c, byDue, it.Due)
		return true
	}
	s.move(c, slot, Blocked, Ready, it.Size)
	c.lane.noteReady(c)
	return true
}

// Oldest marks the first message that is ready or parked as unacked, even if it is expired, and
// returns it; nil if there is none. Unlike Next, it searches each lane from the beginning.
func (s *Deliveries) Oldest() *Item {
	for _, l := range s.lanes {
		for i := l.head; i < len(l.row) && (l.ready > 0 || s.count[Parked] > 0); i++ {
			c := l.row[i].chunk
			if c == nil || c.ready == 0 && c.state[Parked-1].empty() {
				continue
			}
			slot := min(c.state[Ready-1].from(0), c.state[Parked-1].from(0))
			it := c.item(slot)
			s.move(c, slot, c.status(slot), Unacked, it.Size)
			return it
		}
	}
	return nil
}

// Given returns how many of the n handles from h on have been given to messages, which may be gone
// by now. In a damaged log, n can be any number.
func (s *Deliveries) Given(h Handle, n int) int {
	l := s.lane(h.Priority())
	if l == nil || h.Seq() >= l.next {
		return 0
	}
	return int(min(uint64(n), l.next-h.Seq()))
}

// Status returns the status of a message; Gone if it is not in the queue.
func (s *Deliveries) Status(h Handle) Status {
	_, _, status := s.find(h)
	return status
}
