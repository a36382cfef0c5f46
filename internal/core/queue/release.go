package queue

// Release returns an unacked message to its position as if it had never been delivered: neither
// counted nor marked. It is scheduled if its Due time is after now (unix ms), otherwise ready. It
// returns false if the message is not unacked.
func (s *Deliveries) Release(h Handle, now int64) bool {
	c, slot, status := s.find(h)
	if status != Unacked {
		return false
	}
	it := c.item(slot)
	if it.Expires != 0 {
		s.lowerKey(&s.expiring, c, byExpiry, it.Expires)
	}
	if it.Due > now {
		s.move(c, slot, Unacked, Scheduled, it.Size)
		s.lowerKey(&s.due, c, byDue, it.Due)
		return true
	}
	s.move(c, slot, Unacked, Ready, it.Size)
	c.lane.noteReady(c)
	return true
}
