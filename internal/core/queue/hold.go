package queue

// Hold marks a live message as unacked whatever its status, and reports whether it is in the queue.
func (s *Deliveries) Hold(h Handle) bool {
	c, slot, status := s.find(h)
	if status == Gone {
		return false
	}
	if status != Unacked {
		s.move(c, slot, status, Unacked, c.item(slot).Size)
	}
	return true
}
