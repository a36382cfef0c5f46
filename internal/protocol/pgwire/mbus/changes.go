package mbus

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/semaphores"
)

// TaskChange is what a transaction does with one task of a semaphore when it is committed.
type TaskChange struct {
	kind  taskKind
	key   string
	entry semaphores.Entry // of a release and a renewal only the task

	Status semaphore.Status // of an enqueued task, once committed
	Done   bool             // of a release or a renewal, once committed: there was such a task
}

type taskKind byte

const (
	enqueues taskKind = iota
	releases
	renews
)

// Semaphores are those of the broker; nil: there are none.
func (s *Session) Semaphores() *semaphores.Manager { return s.semaphores }

// Engine is the session in whose name all is done.
func (s *Session) Engine() *broker.Session { return s.own }

// Failed words an error of the engine for the client.
func (s *Session) Failed(err error) error { return s.failed(err) }

// MayChange returns an error in a read-only transaction; function is the function that wants to
// change something.
func (s *Session) MayChange(function string) error { return s.mayChange(function) }

// Enqueue puts a task into the line of a semaphore when the transaction is committed.
func (s *Session) Enqueue(key string, e semaphores.Entry) (*TaskChange, error) {
	return s.changeTask(&TaskChange{kind: enqueues, key: key, entry: e})
}

// Release takes a task out of a semaphore when the transaction is committed.
func (s *Session) Release(key, task string) (*TaskChange, error) {
	return s.changeTask(&TaskChange{kind: releases, key: key, entry: semaphores.Entry{Task: task}})
}

// Renew begins the lease of a task anew when the transaction is committed.
func (s *Session) Renew(key, task string) (*TaskChange, error) {
	return s.changeTask(&TaskChange{kind: renews, key: key, entry: semaphores.Entry{Task: task}})
}

// maxChanges bounds how many changes of tasks a transaction holds until its end.
const maxChanges = 1 << 20

func (s *Session) changeTask(c *TaskChange) (*TaskChange, error) {
	if s.work.tasks >= maxChanges {
		return nil, pgerror.New(pgerror.ProgramLimitExceeded, "a transaction changes at most %d tasks", maxChanges).WithHint("Commit more often.")
	}
	s.work.add(entry{task: c})
	return c, nil
}

// Change updates or deletes a semaphore when the transaction is committed.
func (s *Session) Change(c semaphores.Change) { s.work.add(entry{semaphore: c}) }

// Undoable notes what has been done at once, and how a rollback undoes it.
func (s *Session) Undoable(undo func()) { s.change(step{undo: undo}) }

// Changes calls fn for each update and deletion of a semaphore that waits for the commit.
func (s *Session) Changes(fn func(semaphores.Change)) {
	if s.work.semaphores == 0 {
		return
	}
	for i := range s.work.entries {
		if c := s.work.entries[i].semaphore; c != nil {
			fn(c)
		}
	}
}

// Continues reports whether the last thing that the open transaction did was a change of a task of
// this semaphore.
func (s *Session) Continues(key string) bool {
	n := len(s.work.entries)
	return n > 0 && s.work.entries[n-1].task != nil && s.work.entries[n-1].task.key == key
}

// taskRun is neighbouring changes of tasks that are one change of their semaphore: its rule is
// asked once.
type taskRun struct {
	change semaphores.Change
	of     []*TaskChange
}

// changes are those of semaphores, in their order.
func (j *journal) changes() (all []semaphores.Change, runs []taskRun) {
	for i := 0; i < len(j.entries); i++ {
		switch e := &j.entries[i]; {
		case e.semaphore != nil:
			all = append(all, e.semaphore)
		case e.task != nil:
			run := taskRun{of: j.neighbours(i)}
			run.change = changeOf(run.of)
			all, runs = append(all, run.change), append(runs, run)
			i += len(run.of) - 1
		}
	}
	return all, runs
}

// neighbours are the changes of tasks from entry i on that are of one kind and one semaphore, as
// many as one change takes.
func (j *journal) neighbours(i int) (all []*TaskChange) {
	first := j.entries[i].task
	for ; i < len(j.entries) && len(all) < semaphores.MaxEntries; i++ {
		c := j.entries[i].task
		if c == nil || c.kind != first.kind || c.key != first.key {
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

// answer tells the changes of the run what became of them.
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

// commitChanges does all that the transaction did with semaphores together with tx, which is nil
// when there is nothing else.
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
