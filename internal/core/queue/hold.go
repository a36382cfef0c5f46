package queue

// Hold marks a live message as unacked, whatever its status. It returns false if the message is not
// in the queue.
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
