package semaphores

import "fiveways/internal/core/semaphore"

// edit is how one step of a round is undone.
type edit struct {
	kind   undoKind
	s      *sem
	task   semaphore.Task   // as it was; of undoAdd its ID, and the number that the next new one had
	config semaphore.Config // as it was
	events uint64           // as they were
	slot   uint32           // of one that is gone: where it was
}

type undoKind uint8

const (
	undoCreate undoKind = iota
	undoConfigure
	undoDelete
	undoForget
	undoAdd
	undoPut
	undoRemove
	undoTransition
	undoEnd // a transition with which the task was gone
)

// undo undoes it, when all that came after it is undone.
func (e *edit) undo(t *table) {
	s := e.s
	switch e.kind {
	case undoCreate:
		t.remove(s)
		t.lastID--
	case undoConfigure:
		s.state.Configure(e.config) // it cannot fail: there are as few tasks as there were then
	case undoDelete:
		s.deleted = false
		t.name(s)
	case undoForget:
		t.restore(s)
	case undoAdd:
		t.take(s, e.task.ID)
		s.state.SetNextSeq(e.task.Seq)
	case undoPut:
		t.put(s, e.task)
	case undoRemove:
		t.putBack(s, e.task, e.slot)
	case undoTransition:
		t.put(s, e.task)
		s.events = e.events
	case undoEnd:
		t.putBack(s, e.task, e.slot)
		s.events = e.events
	}
}

// restore takes the removal of a semaphore back. Its name is put back by the edit before, that of its deletion.
func (t *table) restore(s *sem) {
	t.add(s)
	t.tasks += s.state.Len()
	for task := range s.state.From(1) {
		t.own(s, task.Owner)
	}
}
