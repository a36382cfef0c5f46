package semaphores

import "fiveways.dev/fiveways/internal/core/semaphore"

// rollbackEntry describes how to revert one step of a round.
type rollbackEntry struct {
	kind   stepKind
	s      *sem
	task   semaphore.Task   // its previous state; for addStep its ID and the previous next number
	config semaphore.Config // before the step
	events uint64           // before the step
	slot   uint32           // previous slot of a removed task
}

type stepKind uint8

const (
	createStep stepKind = iota
	configureStep
	deleteStep
	forgetStep
	addStep
	putStep
	removeStep
	transitionStep
	endStep // a transition that removed the task
)

// revert reverts the step. All later steps have been reverted.
func (e *rollbackEntry) revert(t *table) {
	s := e.s
	switch e.kind {
	case createStep:
		t.remove(s)
		t.lastID--
	case configureStep:
		s.state.Configure(e.config) // cannot fail: there are no more tasks than there were then
	case deleteStep:
		s.deleted = false
		t.name(s)
	case forgetStep:
		t.restore(s)
	case addStep:
		t.take(s, e.task.ID)
		s.state.SetNextSeq(e.task.Seq)
	case putStep:
		t.put(s, e.task)
	case removeStep:
		t.putBack(s, e.task, e.slot)
	case transitionStep:
		t.put(s, e.task)
		s.events = e.events
	case endStep:
		t.putBack(s, e.task, e.slot)
		s.events = e.events
	}
}

// restore reverts the removal of a semaphore. Its key is restored by the entry of its deletion,
// which comes next.
func (t *table) restore(s *sem) {
	t.add(s)
	t.tasks += s.state.Len()
	for task := range s.state.From(1) {
		t.own(s, task.Owner)
	}
}
