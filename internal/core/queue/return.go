package queue

// Return is Requeue for replay, where nobody knows what was handed out: the message may also be ready or scheduled.
func (s *State) Return(h Handle, count uint32, due int64) bool {
	c, slot, status := s.find(h)
	if status != Gone && status != Unacked {
		s.move(c, slot, status, Unacked, c.item(slot).Size)
	}
	return s.Requeue(h, count, due)
}
