package semaphores

import "fiveways.dev/fiveways/internal/core/semaphore"

// changed marks a semaphore whose tasks or settings were changed, so that decide applies its rule.
func (r *round) changed(s *sem) {
	if n := len(r.undecided); n == 0 || r.undecided[n-1] != s {
		r.undecided = append(r.undecided, s)
	}
}

// decide applies the rule of each changed semaphore, then fills in the results of the changes.
func (r *round) decide(changes []Change) {
	for _, s := range r.undecided {
		r.settle(s)
	}
	clear(r.undecided)
	r.undecided = r.undecided[:0]
	for _, c := range changes {
		if a, ok := c.(answering); ok && c.of().Err == nil {
			a.answer(r)
		}
	}
}

// settle applies the rule until nothing changes, or until the batch is full. In that case goOn does
// the rest.
func (r *round) settle(s *sem) {
	if s.deleted {
		r.m.table.later(s)
		return
	}
	for r.transitions < r.m.most {
		t, ok := s.state.Next()
		if !ok {
			return
		}
		r.transition(s, t.Task, t.Event)
	}
	if _, more := s.state.Next(); more {
		r.m.table.later(s)
	}
}

// goOn continues what did not fit into earlier batches, as far as it fits into this one.
func (r *round) goOn() {
	t := &r.m.table
	due := t.due
	t.due = nil
	for i, s := range due {
		if r.full() {
			t.due = append(due[i:len(due):len(due)], t.due...)
			break
		}
		s.waiting = false
		switch {
		case t.byID[s.id] != s:
		case !r.m.b.HasVHost(s.vhost):
			r.drop(s)
		case s.deleted:
			r.clear(s)
		default:
			r.settle(s)
		}
	}
	if len(t.due) > 0 {
		r.m.clock.ring()
	}
}

// clear removes tasks of a deleted semaphore, and finally the semaphore.
func (r *round) clear(s *sem) {
	var ids []string
	for task := range s.state.From(1) {
		if len(ids) == r.m.most-r.transitions {
			break
		}
		ids = append(ids, task.ID)
	}
	for _, id := range ids {
		r.transition(s, id, semaphore.EventDeleted)
	}
	if s.state.Len() > 0 {
		r.m.table.later(s)
		return
	}
	r.forget(s)
}

// expire removes running tasks whose lease has ended.
func (r *round) expire() {
	t, now := &r.m.table, r.now/1000
	for t.ends.first() <= now && r.transitions < r.m.most {
		s := t.ends.Heap[0]
		for _, id := range s.state.Ended(now, r.m.most-r.transitions) {
			r.transition(s, id, semaphore.EventExpired)
		}
		r.settle(s)
		t.ends.set(s, s.state.NextEnd())
	}
}
