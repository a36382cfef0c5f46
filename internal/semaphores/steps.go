package semaphores

import "fiveways.dev/fiveways/internal/core/semaphore"

// The single steps of a round. Each adds to the rollback log, to the facts of the log entry and to
// the events.

// touch marks a semaphore as changed.
func (r *round) touch(s *sem) {
	if s.round != r.n {
		s.round = r.n
		r.touched = append(r.touched, s)
	}
}

// tell records an event for watchers and, if it is a transition, for the exchange.
func (r *round) tell(s *sem, e Event) {
	if e.Event == 0 && !r.m.watchers.any() {
		return
	}
	e.of, e.VHost, e.Key, e.Time = s, s.vhost.Name, s.key, r.now/1000
	r.events = append(r.events, e)
}

// create creates a semaphore.
func (r *round) create(key string, c semaphore.Config) *sem {
	t := &r.m.table
	s := &sem{id: t.lastID + 1, vhost: r.vhost(), key: key, created: r.now / 1000, state: semaphore.New(c)}
	t.add(s)
	r.rollbackLog = append(r.rollbackLog, rollbackEntry{kind: createStep, s: s})
	r.touch(s)
	r.facts.create(s)
	info := s.info()
	r.tell(s, Event{Info: &info})
	return s
}

// configure changes the settings of a semaphore. Errors: semaphore.ErrOrder.
func (r *round) configure(s *sem, c semaphore.Config) error {
	was := s.state.Config()
	if was == c {
		return nil
	}
	if err := s.state.Configure(c); err != nil {
		return err
	}
	r.rollbackLog = append(r.rollbackLog, rollbackEntry{kind: configureStep, s: s, config: was})
	r.touch(s)
	r.facts.configure(s)
	info := s.info()
	r.tell(s, Event{Info: &info})
	return nil
}

// delete frees the key of a semaphore. goOn removes its tasks.
func (r *round) delete(s *sem) {
	info := s.info()
	s.deleted = true
	r.m.table.unname(s)
	r.rollbackLog = append(r.rollbackLog, rollbackEntry{kind: deleteStep, s: s})
	r.touch(s)
	r.facts.delete(s)
	r.tell(s, Event{Info: &info, Gone: true})
	if s.state.Len() > 0 {
		r.m.table.later(s)
		return
	}
	r.forget(s)
}

// drop removes a semaphore with all its tasks, and reports that only to watchers.
func (r *round) drop(s *sem) {
	info := s.info()
	r.facts.drop(s)
	r.touch(s)
	r.tell(s, Event{Info: &info, Gone: true})
	r.forget(s)
}

func (r *round) forget(s *sem) {
	r.m.table.remove(s)
	r.rollbackLog = append(r.rollbackLog, rollbackEntry{kind: forgetStep, s: s})
}

// put sets a task. was is its previous state, and has no name if the task did not exist.
func (r *round) put(s *sem, task, was semaphore.Task) {
	next := s.state.NextSeq()
	if r.m.table.put(s, task) {
		r.rollbackLog = append(r.rollbackLog, rollbackEntry{kind: addStep, s: s, task: semaphore.Task{ID: task.ID, Seq: next}})
	} else {
		r.rollbackLog = append(r.rollbackLog, rollbackEntry{kind: putStep, s: s, task: was})
	}
	task, _ = s.state.Get(task.ID)
	r.touch(s)
	r.facts.put(s, &task)
	r.tell(s, Event{Task: task, Was: was})
}

// remove removes a task and reports whether it existed.
func (r *round) remove(s *sem, id string) (ok bool) {
	slot := s.state.Slot(id)
	was, ok := r.m.table.take(s, id)
	if !ok {
		return false
	}
	r.rollbackLog = append(r.rollbackLog, rollbackEntry{kind: removeStep, s: s, task: was, slot: slot})
	r.touch(s)
	r.facts.remove(s, id)
	r.tell(s, Event{Task: was, Was: was, Gone: true})
	return true
}

// transition changes the status of an existing task.
func (r *round) transition(s *sem, id string, e semaphore.Event) {
	was, ok := s.state.Get(id)
	if !ok {
		return
	}
	if s.deleted {
		e = semaphore.EventDeleted
	}
	task, gone := was, false
	entry := rollbackEntry{kind: transitionStep, s: s, task: was, events: s.events}
	switch e {
	case semaphore.EventAcquired:
		task.Status, task.Until = semaphore.Acquired, r.until(s, &was)
		r.m.table.setStatus(s, id, task.Status, task.Until)
	case semaphore.EventTryRelease:
		task.Status = semaphore.TryRelease
		r.m.table.setStatus(s, id, task.Status, task.Until)
	case semaphore.EventRetained:
		task.Status = semaphore.Acquired
		r.m.table.setStatus(s, id, task.Status, task.Until)
	default:
		gone = true
		entry.kind, entry.slot = endStep, s.state.Slot(id)
		r.m.table.take(s, id)
	}
	r.rollbackLog = append(r.rollbackLog, entry)
	s.events++
	r.transitions++
	r.touch(s)
	r.facts.transition(s, id, e)
	r.tell(s, Event{Event: e, Task: task, Was: was, Gone: gone, Seq: s.events})
}

// until returns when a task's lease ends if it begins now, in unix ms; 0: never.
func (r *round) until(s *sem, t *semaphore.Task) int64 {
	if lease := s.lease(t); lease > 0 {
		return r.now/1000 + lease
	}
	return 0
}
