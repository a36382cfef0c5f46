package dispatch

// single chooses the one consumer of a queue that gets messages.
//
// Invariant: while the queue has consumers, active is one of them.
type single struct {
	active *Consumer
	byRank bool // a consumer of higher priority takes over once the active one has no unsettled deliveries
}

// joined makes c active if it is the only consumer.
func (s *single) joined(c *Consumer) {
	if s.active == nil {
		s.active = c
	}
}

// left chooses a successor if c was active: the first of the others, which are sorted by priority
// and age. Deliveries to c stay unsettled.
func (s *single) left(c *Consumer, others []*Consumer) {
	if s.active != c {
		return
	}
	s.active = nil
	if len(others) > 0 {
		s.active = others[0]
	}
}

// next returns the active consumer if it may get a message. If another one has a higher priority,
// the active one gets none, so that it can hand over.
func (s *single) next(list []*Consumer) *Consumer {
	if s.active == nil {
		return nil
	}
	if s.byRank && list[0].Priority > s.active.Priority {
		if s.active.unacked > 0 {
			return nil
		}
		s.active = list[0]
	}
	if !s.active.ready() {
		return nil
	}
	return s.active
}
