package queue

// LendLast marks the ready message that would be delivered last as unacked and returns it, nil if
// there is none. It skips messages that are expired at now (unix ms), and parked ones. Scheduled
// messages that are due by now count as ready.
func (s *Deliveries) LendLast(now int64) *Item {
	s.Due(now)
	for i := len(s.lanes) - 1; i >= 0; i-- {
		if l := s.lanes[i]; l.ready > 0 {
			if it := s.lendLastOf(l, now); it != nil {
				return it
			}
		}
	}
	return nil
}

func (s *Deliveries) lendLastOf(l *lane, now int64) *Item {
	for i := len(l.row) - 1; i >= l.head; i-- {
		c := l.row[i].chunk
		if c == nil || c.ready == 0 {
			continue
		}
		if c.packed != nil {
			s.unpack(c)
		}
		for ready := c.state[Ready-1]; !ready.empty(); {
			slot := ready.last()
			if it := c.hotItem(slot); it.Expires == 0 || it.Expires > now {
				s.move(c, slot, Ready, Unacked, it.Size)
				return it
			}
			ready.clear(slot)
		}
	}
	return nil
}
