package semaphore_test

import (
	"cmp"
	"fmt"
	"slices"

	"fiveways.dev/fiveways/internal/core/semaphore"
)

// twin does what the documentation says that a semaphore does: after each change it sorts all tasks
// and looks at all of them.
type twin struct {
	semaphore.Config
	now   int64
	next  uint64
	tasks []*semaphore.Task
}

func (w *twin) task(id string) *semaphore.Task {
	for _, t := range w.tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// enqueue adds a task or, if it exists, changes its priority.
func (w *twin) enqueue(e semaphore.Task) {
	t := w.task(e.ID)
	if t == nil {
		t = &semaphore.Task{ID: e.ID, Enqueued: w.now, Seq: w.next}
		w.next++
		w.tasks = append(w.tasks, t)
	}
	t.Priority, t.Lease, t.Owner = e.Priority, e.Lease, e.Owner
	w.sort()
}

func (w *twin) release(id string) {
	w.tasks = slices.DeleteFunc(w.tasks, func(t *semaphore.Task) bool { return t.ID == id })
}

func (w *twin) sort() {
	slices.SortFunc(w.tasks, func(a, b *semaphore.Task) int {
		switch {
		case a.Priority == b.Priority:
			return cmp.Compare(a.Seq, b.Seq)
		case (a.Priority < b.Priority) == w.Ascending:
			return -1
		}
		return 1
	})
}

func (w *twin) running() (all []*semaphore.Task) {
	for _, t := range w.tasks {
		if t.Status != semaphore.Wait {
			all = append(all, t)
		}
	}
	return all
}

// decide gives free places to the first waiting tasks. Then it asks the last of the running tasks
// to give way, as many as the first Active tasks need, and retains those that it no longer needs.
func (w *twin) decide() (events []string) {
	tell := func(t *semaphore.Task, e semaphore.Event, st semaphore.Status) {
		t.Status = st
		events = append(events, fmt.Sprint(e, " ", t.ID))
	}
	running := w.running()
	free := w.Active - len(running)
	for _, t := range w.tasks {
		if t.Status == semaphore.Wait && free > 0 {
			free--
			t.Until = w.until(t)
			tell(t, semaphore.EventAcquired, semaphore.Acquired)
		}
	}
	running = w.running()
	needed := len(running)
	for _, t := range w.tasks[:min(w.Active, len(w.tasks))] {
		if t.Status != semaphore.Wait {
			needed--
		}
	}
	needed = min(needed, w.TryRelease)
	keep, yield := running[:len(running)-needed], running[len(running)-needed:]
	asked := 0
	var back, ask []*semaphore.Task // to be retained, the most urgent first; to be asked, the least urgent first
	for _, t := range keep {
		if t.Status == semaphore.TryRelease {
			asked++
			back = append(back, t)
		}
	}
	for _, t := range yield {
		if t.Status == semaphore.TryRelease {
			asked++
		} else {
			ask = append([]*semaphore.Task{t}, ask...)
		}
	}
	for len(back)+len(ask) > 0 { // never asks more than needed, except for tasks already asked
		if len(ask) > 0 && asked < needed {
			tell(ask[0], semaphore.EventTryRelease, semaphore.TryRelease)
			ask, asked = ask[1:], asked+1
		} else {
			tell(back[0], semaphore.EventRetained, semaphore.Acquired)
			back, asked = back[1:], asked-1
		}
	}
	return events
}

// until returns when the lease of a task that starts now ends.
func (w *twin) until(t *semaphore.Task) int64 {
	if lease := cmp.Or(t.Lease, w.Lease); lease != 0 {
		return w.now + lease
	}
	return 0
}

// ended returns the tasks whose lease has ended, in the order of the ends.
func (w *twin) ended() (ids []string) {
	var over []*semaphore.Task
	for _, t := range w.tasks {
		if t.Until != 0 && t.Until <= w.now {
			over = append(over, t)
		}
	}
	slices.SortFunc(over, func(a, b *semaphore.Task) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Seq, b.Seq))
	})
	for _, t := range over {
		ids = append(ids, t.ID)
	}
	return ids
}

// owned returns the tasks of an owner in order of arrival.
func (w *twin) owned(owner int64) (ids []string) {
	var all []*semaphore.Task
	for _, t := range w.tasks {
		if t.Owner == owner {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *semaphore.Task) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, t := range all {
		ids = append(ids, t.ID)
	}
	return ids
}
