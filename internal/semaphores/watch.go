package semaphores

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// target is what a watcher watches: a task, a semaphore (without task), or several semaphores of a
// virtual host (without key).
type target struct {
	vhost     catalog.VHostID
	key, task string
}

// watchers holds all watchers by target.
type watchers struct {
	count atomic.Int64
	mu    sync.Mutex
	by    map[target]map[*watcher]struct{}

	told []*watcher // get the current events; used by the applying goroutine only
}

type watcher struct {
	s       *broker.Session // nil: no permission checks
	o       WatchOptions
	target  target
	fn      func([]Event)
	orphan  func() // called when the virtual host is deleted; may be nil; must not block
	stopped atomic.Bool
	batch   []Event // used by the applying goroutine only
}

// any reports whether there are watchers.
func (w *watchers) any() bool { return w.count.Load() > 0 }

func (w *watchers) add(x *watcher) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.by[x.target]
	if all == nil {
		all = map[*watcher]struct{}{}
		w.by[x.target] = all
	}
	all[x] = struct{}{}
	w.count.Add(1)
	return func() { w.remove(x) }
}

func (w *watchers) remove(x *watcher) {
	if x.stopped.Swap(true) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if all := w.by[x.target]; len(all) > 1 {
		delete(all, x)
	} else {
		delete(w.by, x.target)
	}
	w.count.Add(-1)
}

// leave notifies the waiters in a virtual host that it was deleted: their tasks get no events.
func (w *watchers) leave(vhost catalog.VHostID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for at, all := range w.by {
		if at.vhost != vhost {
			continue
		}
		for x := range all {
			if x.orphan != nil {
				x.orphan()
			}
		}
	}
}

// tell delivers the events of one batch. Batches are delivered one after the other.
func (w *watchers) tell(events []Event) {
	if !w.any() {
		return
	}
	w.mu.Lock()
	for i := range events {
		w.sort(&events[i])
	}
	w.mu.Unlock()
	for _, x := range w.told {
		if !x.stopped.Load() {
			x.fn(x.batch)
		}
		clear(x.batch)
		x.batch = x.batch[:0]
	}
	clear(w.told)
	w.told = w.told[:0]
}

// sort adds an event to the batches of its watchers.
func (w *watchers) sort(e *Event) {
	at := target{vhost: e.of.vhost, key: e.Key, task: e.Task.ID}
	if at.task != "" {
		w.give(at, e)
		at.task = ""
	}
	w.give(at, e)
	w.give(target{vhost: at.vhost}, e)
}

func (w *watchers) give(at target, e *Event) {
	for x := range w.by[at] {
		if !x.wants(e) {
			continue
		}
		if len(x.batch) == 0 {
			w.told = append(w.told, x)
		}
		x.batch = append(x.batch, *e)
	}
}

// wants reports whether a watcher of the event's target wants the event.
func (x *watcher) wants(e *Event) bool {
	if e.Event == 0 && !x.o.All || x.target.task == "" && x.o.Task != "" && e.Task.ID != x.o.Task {
		return false
	}
	return strings.HasPrefix(e.Key, x.o.Key) && (x.s == nil || x.s.May(toRead, "semaphore", e.Key) == nil)
}

// Watch calls fn with all later events in log order, once they are durable, until stop is called.
// After that no call of fn begins, but one may still run. fn must not block, must not call the
// manager or the broker, and must not keep the events. A watcher gets the events of semaphores that
// the user may read at that time. Errors: failure.ErrAccessRefused, ErrInvalid.
func (m *Manager) Watch(s *broker.Session, o WatchOptions, fn func([]Event)) (stop func(), err error) {
	at := target{vhost: s.VHostID()}
	if o.Key != "" && !o.Prefix {
		if err := s.May(toRead, "semaphore", o.Key); err != nil {
			return nil, err
		}
		if err := CheckKey(o.Key); err != nil {
			return nil, err
		}
		at.key, at.task = o.Key, o.Task
	}
	return m.watchers.add(&watcher{s: s, o: o, target: at, fn: fn}), nil
}

// Acquire enqueues a task and returns when it runs. If ctx ends first, the task stays enqueued.
// Needs write. Errors: those of Enqueue; ErrNoTask (it was released or its owner ended); those of
// AwaitEnqueued.
func (m *Manager) Acquire(ctx context.Context, s *broker.Session, key string, e Entry) (State, error) {
	c := Enqueue{Of: Of{Key: key}, Entries: []Entry{e}}
	if err := m.Do(s, &c); err != nil {
		return State{}, err
	}
	if c.Err != nil {
		return State{}, c.Err
	}
	if st := c.States[0]; st.Found && st.Status != semaphore.Wait {
		return st, nil
	}
	return m.AwaitEnqueued(ctx, s, key, e.Task)
}

// AwaitEnqueued is Await for a task that the caller has enqueued or seen: a missing semaphore must
// have been deleted since then. Errors: those of Await except ErrNotFound.
func (m *Manager) AwaitEnqueued(ctx context.Context, s *broker.Session, key, task string) (State, error) {
	st, err := m.Await(ctx, s, key, task)
	if errors.Is(err, ErrNotFound) {
		err = deleted(s, key)
	}
	return st, err
}

// Await returns when a task runs. Needs write, like all changes of one's own tasks. Errors:
// ErrNotFound, ErrNoTask (it no longer exists), ErrDeleted (also if its virtual host was deleted),
// that of ctx, failure.ErrClosed, failure.ErrLogFailed.
func (m *Manager) Await(ctx context.Context, s *broker.Session, key, task string) (State, error) {
	if err := m.ready(); err != nil {
		return State{}, err
	}
	if err := errors.Join(s.May(toWrite, "semaphore", key), CheckKey(key), CheckTask(task)); err != nil {
		return State{}, err
	}
	a := awaiting{outcome: make(chan outcome, 1)}
	o := WatchOptions{Key: key, Task: task, All: true}
	stop := m.watchers.add(&watcher{o: o, target: target{s.VHostID(), key, task}, fn: a.see, orphan: a.orphan})
	defer stop()
	c := Status{Of: Of{Key: key}, Tasks: []string{task}}
	if err := m.look(s, []Change{&c}); err != nil {
		return State{}, err
	}
	switch {
	case c.Err != nil:
		return State{}, c.Err
	case !c.States[0].Found:
		return State{}, noTask(s, task)
	case c.States[0].Status != semaphore.Wait:
		return c.States[0], nil
	}
	select {
	case got := <-a.outcome:
		st, err := got.result(s, key)
		if err == nil {
			st.Position = m.position(s.VHostID(), key, task)
		}
		return st, err
	case <-m.dead:
		return State{}, m.ready()
	case <-m.Stopped():
		return State{}, failure.ErrClosed
	case <-ctx.Done():
		return State{}, ctx.Err()
	}
}

// position returns the position of a task, or 0 if it does not exist.
func (m *Manager) position(vhost catalog.VHostID, key, task string) (at int) {
	m.seen(func() {
		if s := m.table.find(vhost, key); s != nil {
			at = s.state.Position(task)
		}
	})
	return at
}

// awaiting is a caller that waits for a task to run.
type awaiting struct{ outcome chan outcome }

// outcome is the first event of the task that ends the wait.
type outcome struct {
	task semaphore.Task
	gone semaphore.Event // 0: it still exists, or it was released
	runs bool
}

func (a *awaiting) see(events []Event) {
	for i := range events {
		e := &events[i]
		runs := e.Event == semaphore.EventAcquired
		if !runs && !e.Gone {
			continue
		}
		a.end(outcome{e.Task, e.Event, runs})
	}
}

func (a *awaiting) orphan() { a.end(outcome{gone: semaphore.EventDeleted}) }

func (a *awaiting) end(o outcome) {
	select {
	case a.outcome <- o:
	default: // only the first one counts
	}
}

func (o *outcome) result(s *broker.Session, key string) (State, error) {
	switch {
	case o.runs:
		return State{Task: o.task, Found: true}, nil
	case o.gone == semaphore.EventDeleted:
		return State{}, deleted(s, key)
	}
	return State{}, noTask(s, o.task.ID)
}

func deleted(s *broker.Session, key string) error {
	return &failure.Error{Err: ErrDeleted, Kind: "semaphore", Name: key, VHost: s.VHost()}
}
