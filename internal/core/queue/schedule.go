package queue

// LendDue marks up to n scheduled messages with Due <= now as unacked and appends copies of them to
// dst, in no particular order. It unpacks nothing. If it appends n messages, there may be more:
// NextEvent is not after now as long as there are.
func (s *Deliveries) LendDue(now int64, n int, dst []Item) []Item {
	w := getWalker()
	defer w.release()
	for n > 0 && s.due.topKey(byDue) <= now {
		c := s.due[0]
		next := int64(never)
		for w.start(c); w.next(); {
			if !c.state[Scheduled-1].has(w.slot) {
				continue
			}
			if w.it.Due > now || n == 0 {
				next = min(next, w.it.Due)
				continue
			}
			n--
			dst = append(dst, *w.it)
			s.move(c, w.slot, Scheduled, Unacked, w.it.Size)
		}
		s.setKey(&s.due, c, byDue, next)
	}
	s.checkInvariants()
	return dst
}

// Reschedule changes the Due time of a scheduled message to due, which must not be 0. It returns
// false if the message is not scheduled. The time to live after Due stays the same.
func (s *State) Reschedule(h Handle, due int64) bool {
	c, slot, status := s.find(h)
	if status != Scheduled {
		return false
	}
	if c.packed != nil {
		s.unpack(c)
	}
	it := c.hotItem(slot)
	if it.Expires != 0 {
		it.Expires += due - it.Due
		s.lowerKey(&s.expiring, c, byExpiry, it.Expires)
	}
	it.Due = due
	s.lowerKey(&s.due, c, byDue, due)
	s.checkInvariants()
	return true
}
