package queue

// NextEvent returns when LendExpired or Due next has something to do (unix ms), never later than
// the first such moment; math.MaxInt64 if there is none. It can be too early once, until both have
// run at that time.
func (s *Deliveries) NextEvent() int64 {
	return min(s.expiring.topKey(byExpiry), s.due.topKey(byDue))
}

// LendExpired marks up to n messages with Expires <= now as unacked, whatever their position,
// unless they are unacked already, and appends their handles to dst in no particular order. If it
// appends n handles, there may be more: NextEvent is not after now as long as there are.
func (s *Deliveries) LendExpired(now int64, n int, dst []Handle) []Handle {
	if s.expiring.topKey(byExpiry) > now {
		return dst
	}
	w := getWalker()
	defer w.release()
	for n > 0 && s.expiring.topKey(byExpiry) <= now {
		c := s.expiring[0]
		next := int64(never)
		for w.start(c); w.next(); {
			status := c.status(w.slot)
			switch e := w.it.Expires; {
			case e == 0 || status == Unacked:
			case e <= now && n > 0:
				n--
				dst = append(dst, w.it.Handle)
				s.move(c, w.slot, status, Unacked, w.it.Size)
			default:
				next = min(next, e)
			}
		}
		s.setKey(&s.expiring, c, byExpiry, next)
	}
	s.checkInvariants()
	return dst
}

// Due makes scheduled messages ready whose time has come. Next, Peek and similar methods do so,
// too.
func (s *Deliveries) Due(now int64) {
	if s.due.topKey(byDue) > now {
		return
	}
	w := getWalker()
	defer w.release()
	for s.due.topKey(byDue) <= now {
		c := s.due[0]
		next := int64(never)
		for w.start(c); w.next(); {
			if !c.state[Scheduled-1].has(w.slot) {
				continue
			}
			if w.it.Due > now {
				next = min(next, w.it.Due)
				continue
			}
			s.move(c, w.slot, Scheduled, Ready, w.it.Size)
			c.lane.noteReady(c)
		}
		s.setKey(&s.due, c, byDue, next)
	}
	s.checkInvariants()
}
