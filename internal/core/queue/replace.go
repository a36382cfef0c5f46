package queue

// Replace replaces a live message by another one at its position, and returns the old one; false if
// there is none. The handle, the count of returns and the status stay, except that a message that
// is not unacked becomes scheduled if it.Due is not 0, and ready otherwise.
func (s *State) Replace(h Handle, it *Item) (old Item, ok bool) {
	c, slot, status := s.find(h)
	if status == Gone {
		return Item{}, false
	}
	if c.packed != nil {
		s.unpack(c)
	}
	dst := c.hotItem(slot)
	old = *dst
	dst.Index, dst.Sub, dst.Size, dst.Env = it.Index, it.Sub, it.Size, it.Env
	dst.Expires, dst.Due, dst.Flags = it.Expires, it.Due, it.Flags&^Redelivered
	s.hotBytes += int64(len(dst.Env)) - int64(len(old.Env))
	s.bytes[status] += int64(dst.Size) - int64(old.Size)
	c.noteIndex(dst)
	if dst.Expires != 0 {
		s.lowerKey(&s.expiring, c, byExpiry, dst.Expires)
	}
	switch {
	case status == Unacked || status == Blocked:
	case dst.Due != 0:
		s.move(c, slot, status, Scheduled, dst.Size)
		s.lowerKey(&s.due, c, byDue, dst.Due)
	case status == Scheduled:
		s.move(c, slot, Scheduled, Ready, dst.Size)
		c.lane.noteReady(c)
	}
	s.checkInvariants()
	return old, true
}

// Recount sets the count of returns of a live message; false if it does not exist.
func (s *State) Recount(h Handle, count uint32) bool {
	c, slot, status := s.find(h)
	if status == Gone {
		return false
	}
	if c.packed != nil {
		s.unpack(c)
	}
	c.hotItem(slot).Count = count
	return true
}
