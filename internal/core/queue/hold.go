package queue

// Hold marks a live message as unacked whatever is happening to it, and tells whether it is here.
func (s *State) Hold(h Handle) bool {
	c, slot, status := s.find(h)
	if status == Gone {
		return false
	}
	if status != Unacked {
		s.move(c, slot, status, Unacked, c.item(slot).Size)
	}
	return true
}
