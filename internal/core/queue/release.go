package queue

// Release puts an unacked message back to its place as if it had never been handed out: neither
// counted nor marked. It is scheduled when its Due time is later than now (unix ms), else ready.
// The result is false when the message is not unacked.
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
