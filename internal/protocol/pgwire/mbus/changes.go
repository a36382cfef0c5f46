package mbus

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/semaphores"
)

// TaskChange is a change of one semaphore task that a transaction makes when it commits.
type TaskChange struct {
	kind  taskKind
	key   string
	entry semaphores.Entry // only Task is set for a release or a renewal

	Status semaphore.Status // of an enqueued task; set by the commit
	Done   bool             // of a release or a renewal: the task existed; set by the commit
}

type taskKind byte

const (
	enqueues taskKind = iota
	releases
	renews
)

// Semaphores returns the semaphores of the broker, or nil if there are none.
func (s *Session) Semaphores() *semaphores.Manager { return s.semaphores }

// Engine returns the engine session that performs all operations.
func (s *Session) Engine() *broker.Session { return s.own }

// Failed converts an engine error to an error for the client.
func (s *Session) Failed(err error) error { return s.failed(err) }

// MayChange returns an error in a read-only transaction. function is the name of the function that
// wants to change something.
func (s *Session) MayChange(function string) error { return s.mayChange(function) }

// Enqueue adds a task to the queue of a semaphore when the transaction commits.
func (s *Session) Enqueue(key string, e semaphores.Entry) (*TaskChange, error) {
	return s.changeTask(&TaskChange{kind: enqueues, key: key, entry: e})
}

// Release removes a task from a semaphore when the transaction commits.
func (s *Session) Release(key, task string) (*TaskChange, error) {
	return s.changeTask(&TaskChange{kind: releases, key: key, entry: semaphores.Entry{Task: task}})
}

// Renew restarts the lease of a task when the transaction commits.
func (s *Session) Renew(key, task string) (*TaskChange, error) {
	return s.changeTask(&TaskChange{kind: renews, key: key, entry: semaphores.Entry{Task: task}})
}

// maxChanges limits the number of task changes that a transaction holds until its end.
const maxChanges = 1 << 20

func (s *Session) changeTask(c *TaskChange) (*TaskChange, error) {
	if s.work.tasks >= maxChanges {
		return nil, pgerror.New(pgerror.ProgramLimitExceeded, "a transaction changes at most %d tasks", maxChanges).WithHint("Commit more often.")
	}
	s.work.add(c)
	return c, nil
}

// Change updates or deletes a semaphore when the transaction commits.
func (s *Session) Change(c semaphores.Change) { s.work.add(c) }

// Undoable records an operation that took effect at once. undo reverts it on rollback.
func (s *Session) Undoable(undo func()) { s.change(step{undo: undo}) }

// Changes calls fn for each pending update or deletion of a semaphore.
func (s *Session) Changes(fn func(semaphores.Change)) {
	if s.work.semaphores == 0 {
		return
	}
	for _, e := range s.work.entries {
		if c, ok := e.(semaphores.Change); ok {
			fn(c)
		}
	}
}

// Continues reports whether the last operation of the open transaction was a change of a task of
// this semaphore.
func (s *Session) Continues(key string) bool {
	if len(s.work.entries) == 0 {
		return false
	}
	c, ok := s.work.entries[len(s.work.entries)-1].(*TaskChange)
	return ok && c.key == key
}

// taskRun is a run of adjacent task changes that are applied as one change of their semaphore, so
// that its rule is evaluated once.
type taskRun struct {
	change semaphores.Change
	of     []*TaskChange
}

// changes returns the changes of semaphores in their order.
func (j *journal) changes() (all []semaphores.Change, runs []taskRun) {
	for i := 0; i < len(j.entries); i++ {
		switch e := j.entries[i].(type) {
		case semaphores.Change:
			all = append(all, e)
		case *TaskChange:
			run := taskRun{of: j.neighbours(i)}
			run.change = changeOf(run.of)
			all, runs = append(all, run.change), append(runs, run)
			i += len(run.of) - 1
		}
	}
	return all, runs
}

// neighbours returns the task changes from entry i on that have the same kind and semaphore, at
// most as many as one change may contain.
func (j *journal) neighbours(i int) (all []*TaskChange) {
	first := j.entries[i].(*TaskChange)
	for ; i < len(j.entries) && len(all) < semaphores.MaxEntries; i++ {
		c, ok := j.entries[i].(*TaskChange)
		if !ok || c.kind != first.kind || c.key != first.key {
			break
		}
		all = append(all, c)
	}
	return all
}

func changeOf(run []*TaskChange) semaphores.Change {
	of := semaphores.Of{Key: run[0].key}
	if run[0].kind == enqueues {
		entries := make([]semaphores.Entry, len(run))
		for i, c := range run {
			entries[i] = c.entry
		}
		return &semaphores.Enqueue{Of: of, Entries: entries}
	}
	tasks := make([]string, len(run))
	for i, c := range run {
		tasks[i] = c.entry.Task
	}
	if run[0].kind == releases {
		return &semaphores.Release{Of: of, Tasks: tasks}
	}
	return &semaphores.Renew{Of: of, Tasks: tasks}
}

// answer copies the results of the run to its task changes.
func (r *taskRun) answer() {
	for i, c := range r.of {
		switch made := r.change.(type) {
		case *semaphores.Enqueue:
			c.Status = made.States[i].Status
		case *semaphores.Release:
			c.Done = made.Released[i]
		case *semaphores.Renew:
			c.Done = made.Renewed[i]
		}
	}
}

// commitChanges applies all semaphore changes of the transaction together with tx, which is nil if
// there is nothing else to commit.
func (s *Session) commitChanges(tx *broker.Tx) error {
	all, runs := s.work.changes()
	if err := s.semaphores.DoWith(s.own, semaphores.Group{Tx: tx, Must: true}, all...); err != nil {
		return err
	}
	for i := range runs {
		runs[i].answer()
	}
	return nil
}
