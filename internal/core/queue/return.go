package queue

// Return is Requeue for replay, which knows no deliveries: the message may also be ready or
// scheduled.
func (s *State) Return(h Handle, count uint32, due int64) bool {
	return s.Hold(h) && s.Requeue(h, count, due)
}
