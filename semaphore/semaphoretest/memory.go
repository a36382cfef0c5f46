package semaphoretest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/core/glob"
	core "fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/semaphore"
)

// Memory is a backend in memory that follows the broker's rule. Tests pass it to semaphore.New. It
// uses package time, so it works in a bubble of testing/synctest.
type Memory struct {
	mu       sync.Mutex
	all      map[string]*line // guarded by mu
	watchers map[*watcher]struct{}
	closed   bool
}

// line is one semaphore.
type line struct {
	key   string
	state *core.State
	seq   uint64
	timer *time.Timer // for the end of the next lease
}

// watcher is a subscriber to some events.
type watcher struct {
	only func(semaphore.Event) bool
	fn   func(semaphore.Event)
}

// NewMemory returns a backend without semaphores.
func NewMemory() *Memory {
	return &Memory{all: map[string]*line{}, watchers: map[*watcher]struct{}{}}
}

const page = 100

func apply(c *core.Config, s semaphore.Settings) {
	if s.Active != nil {
		c.Active = *s.Active
	}
	if s.TryRelease != nil {
		c.TryRelease = *s.TryRelease
	}
	if s.Ascending != nil {
		c.Ascending = *s.Ascending
	}
	if s.Lease != nil {
		c.Lease = s.Lease.Milliseconds()
	}
}

// begin locks the memory. The caller must call end to unlock it.
func (m *Memory) begin(ctx context.Context) (end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, semaphore.ErrClosed
	}
	return m.mu.Unlock, nil
}

// find locks the memory and finds a semaphore. The caller must call end to unlock it.
func (m *Memory) find(ctx context.Context, key string) (l *line, end func(), err error) {
	end, err = m.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	if l = m.all[key]; l == nil {
		end()
		return nil, nil, fmt.Errorf("%w: %q", semaphore.ErrNotFound, key)
	}
	return l, end, nil
}

// Create implements semaphore.Backend.
func (m *Memory) Create(ctx context.Context, key string, s semaphore.Settings) (created bool, err error) {
	end, err := m.begin(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	if key == "" {
		return false, fmt.Errorf("%w: a semaphore has a key", semaphore.ErrInvalid)
	}
	if m.all[key] != nil {
		return false, nil
	}
	c := core.Config{Active: 1000, TryRelease: 900}
	apply(&c, s)
	m.all[key] = &line{key: key, state: core.New(c)}
	return true, nil
}

// Update implements semaphore.Backend.
func (m *Memory) Update(ctx context.Context, key string, s semaphore.Settings) error {
	l, end, err := m.find(ctx, key)
	if err != nil {
		return err
	}
	defer end()
	c := l.state.Config()
	apply(&c, s)
	if l.state.Configure(c) != nil {
		return semaphore.ErrOrder
	}
	m.settle(l)
	return nil
}

// Delete implements semaphore.Backend.
func (m *Memory) Delete(ctx context.Context, key string, ifEmpty bool) (deleted bool, err error) {
	end, err := m.begin(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	l := m.all[key]
	switch {
	case l == nil:
		return false, nil
	case ifEmpty && l.state.Len() > 0:
		return false, semaphore.ErrNotEmpty
	}
	delete(m.all, key)
	if l.timer != nil {
		l.timer.Stop()
	}
	for t := range l.state.From(1) {
		m.happened(l, t, semaphore.EventDeleted, true)
	}
	return true, nil
}

func (l *line) info() semaphore.Info {
	c := l.state.Config()
	return semaphore.Info{
		Key: l.key, Active: c.Active, TryRelease: c.TryRelease, Ascending: c.Ascending, Lease: time.Duration(c.Lease) * time.Millisecond,
		Waiting: l.state.Count(core.Wait), Acquired: l.state.Count(core.Acquired), Asked: l.state.Count(core.TryRelease),
	}
}

// Info implements semaphore.Backend.
func (m *Memory) Info(ctx context.Context, key string) (semaphore.Info, error) {
	l, end, err := m.find(ctx, key)
	if err != nil {
		return semaphore.Info{}, err
	}
	defer end()
	return l.info(), nil
}

// List implements semaphore.Backend.
func (m *Memory) List(ctx context.Context, pattern, after string) (infos []semaphore.Info, next string, err error) {
	end, err := m.begin(ctx)
	if err != nil {
		return nil, "", err
	}
	defer end()
	looked := 0
	for _, key := range slices.Sorted(maps.Keys(m.all)) {
		if key <= after {
			continue
		}
		if looked == page {
			return infos, next, nil
		}
		looked, next = looked+1, key
		if pattern == "" || glob.Match(pattern, key) {
			infos = append(infos, m.all[key].info())
		}
	}
	return infos, "", nil
}

// Enqueue implements semaphore.Backend.
func (m *Memory) Enqueue(ctx context.Context, key string, entries []semaphore.Entry) ([]semaphore.Status, error) {
	for _, e := range entries {
		if e.Task == "" || math.IsNaN(e.Priority) || math.IsInf(e.Priority, 0) {
			return nil, fmt.Errorf("%w: task %q with priority %v", semaphore.ErrInvalid, e.Task, e.Priority)
		}
	}
	l, end, err := m.find(ctx, key)
	if err != nil {
		return nil, err
	}
	defer end()
	now := time.Now()
	for _, e := range entries {
		t, there := l.state.Get(e.Task)
		if !there {
			t = core.Task{ID: e.Task, Enqueued: now.UnixMicro()}
		}
		t.Priority, t.Lease = e.Priority, e.Lease.Milliseconds()
		if t.Status != core.Wait {
			t.Until = l.until(t, now)
		}
		l.state.Put(t)
		m.happened(l, t, semaphore.EventEnqueued, false)
	}
	m.settle(l)
	statuses := make([]semaphore.Status, len(entries))
	for i, e := range entries {
		if t, ok := l.state.Get(e.Task); ok {
			statuses[i] = semaphore.Status(t.Status.String())
		}
	}
	return statuses, nil
}

// until returns when the lease of a running task ends, in unix ms; 0: never.
func (l *line) until(t core.Task, now time.Time) int64 {
	if lease := cmp.Or(t.Lease, l.state.Config().Lease); lease > 0 {
		return now.UnixMilli() + lease
	}
	return 0
}

// Release implements semaphore.Backend.
func (m *Memory) Release(ctx context.Context, key string, tasks []string) (released int, err error) {
	l, end, err := m.find(ctx, key)
	if err != nil {
		return 0, err
	}
	defer end()
	for _, id := range tasks {
		if t, ok := l.state.Remove(id); ok {
			released++
			m.happened(l, t, semaphore.EventReleased, true)
		}
	}
	m.settle(l)
	return released, nil
}

// Renew implements semaphore.Backend.
func (m *Memory) Renew(ctx context.Context, key string, tasks []string) ([]bool, error) {
	l, end, err := m.find(ctx, key)
	if err != nil {
		return nil, err
	}
	defer end()
	renewed := make([]bool, len(tasks))
	for i, id := range tasks {
		if t, ok := l.state.Get(id); ok && t.Status != core.Wait {
			renewed[i] = l.state.SetStatus(id, t.Status, l.until(t, time.Now()))
		}
	}
	m.settle(l)
	return renewed, nil
}

// Look implements semaphore.Backend.
func (m *Memory) Look(ctx context.Context, key string, tasks []string) ([]semaphore.Task, error) {
	l, end, err := m.find(ctx, key)
	if err != nil {
		return nil, err
	}
	defer end()
	all := make([]semaphore.Task, len(tasks))
	for i, id := range tasks {
		if all[i].Task = id; l.state.Position(id) > 0 {
			t, _ := l.state.Get(id)
			all[i] = l.task(t, l.state.Position(id))
		}
	}
	return all, nil
}

func (l *line) task(t core.Task, position int) semaphore.Task {
	out := semaphore.Task{
		Task: t.ID, Status: semaphore.Status(t.Status.String()), Priority: t.Priority, Position: position, Enqueued: time.UnixMicro(t.Enqueued),
		Lease: time.Duration(t.Lease) * time.Millisecond,
	}
	if t.Until > 0 {
		out.Left = max(time.Until(time.UnixMilli(t.Until)), time.Millisecond)
	}
	return out
}

// Tasks implements semaphore.Backend.
func (m *Memory) Tasks(ctx context.Context, key string, from int, only []semaphore.Status) (tasks []semaphore.Task, next int, err error) {
	l, end, err := m.find(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	defer end()
	position := from
	for t := range l.state.From(from) {
		if position == from+page {
			return tasks, position, nil
		}
		if out := l.task(t, position); len(only) == 0 || slices.Contains(only, out.Status) {
			tasks = append(tasks, out)
		}
		position++
	}
	return tasks, 0, nil
}

// Watch implements semaphore.Backend.
func (m *Memory) Watch(ctx context.Context, o semaphore.WatchOptions, fn func(semaphore.Event)) (stop func(), err error) {
	return m.watch(ctx, fn, func(e semaphore.Event) bool {
		transition := e.Kind != semaphore.EventEnqueued && e.Kind != semaphore.EventReleased
		return (o.All || transition) && (o.Task == "" || o.Task == e.Task) && (o.Pattern == "" || glob.Match(o.Pattern, e.Key))
	})
}

// Follow implements semaphore.Backend.
func (m *Memory) Follow(ctx context.Context, key, task string, fn func(semaphore.Kind)) (stop func(), err error) {
	return m.watch(ctx, func(e semaphore.Event) { fn(e.Kind) }, func(e semaphore.Event) bool { return e.Key == key && e.Task == task })
}

func (m *Memory) watch(ctx context.Context, fn func(semaphore.Event), only func(semaphore.Event) bool) (stop func(), err error) {
	end, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	w := &watcher{only, fn}
	m.watchers[w] = struct{}{}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, w)
	}, nil
}

// Close implements semaphore.Backend.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, l := range m.all {
		if l.timer != nil {
			l.timer.Stop()
		}
	}
	return nil
}

// settle makes the transitions that the rule requires, and sets the timer for the end of the next
// lease. The caller holds mu.
func (m *Memory) settle(l *line) {
	now := time.Now()
	for _, id := range l.state.Ended(now.UnixMilli(), math.MaxInt) {
		t, _ := l.state.Remove(id)
		m.happened(l, t, semaphore.EventExpired, true)
	}
	for {
		next, ok := l.state.Next()
		if !ok {
			break
		}
		status := core.Acquired
		if next.Event == core.EventTryRelease {
			status = core.TryRelease
		}
		t, _ := l.state.Get(next.Task)
		until := t.Until
		if next.Event == core.EventAcquired {
			until = l.until(t, now)
		}
		l.state.SetStatus(t.ID, status, until)
		t.Status = status
		m.happened(l, t, semaphore.Kind(next.Event.String()), false)
	}
	end := l.state.NextEnd()
	if l.timer != nil {
		l.timer.Stop()
	}
	if end != math.MaxInt64 {
		l.timer = time.AfterFunc(time.Until(time.UnixMilli(end)), func() { m.expire(l) })
	}
}

func (m *Memory) expire(l *line) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed && m.all[l.key] == l {
		m.settle(l)
	}
}

// happened passes an event to its watchers. The caller holds mu.
func (m *Memory) happened(l *line, t core.Task, k semaphore.Kind, gone bool) {
	e := semaphore.Event{Kind: k, Key: l.key, Task: t.ID, Priority: t.Priority}
	if !gone {
		e.Status = semaphore.Status(t.Status.String())
	}
	if k != semaphore.EventEnqueued && k != semaphore.EventReleased {
		l.seq++
		e.Seq = l.seq
	}
	for w := range m.watchers {
		if w.only(e) {
			w.fn(e)
		}
	}
}
