package queue

// Return is Requeue for a replay, in which deliveries are unknown: the message may also be ready or
// scheduled.
func (s *State) Return(h Handle, count uint32, due int64) bool {
	return s.Hold(h) && s.Requeue(h, count, due)
}
