package inprocess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/glob"
	core "fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/semaphore"
)

// Semaphores implements semaphore.Backend.
type Semaphores struct {
	*sessions
	m *semaphores.Manager

	eyes struct { // the watches
		sync.Mutex
		session *broker.Session // shared by all watches; nil before the first
		missed  map[*func()]struct{}
	}
}

// NewSemaphores returns the semaphores of a virtual host. They end with m.
func NewSemaphores(b *broker.Broker, m *semaphores.Manager, vhost string) *Semaphores {
	s := &Semaphores{sessions: newSessions(b, vhost, semaphore.ErrClosed), m: m}
	s.eyes.missed = map[*func()]struct{}{}
	go s.run()
	return s
}

// run waits until the manager or s is closed, and then informs the watchers.
func (s *Semaphores) run() {
	select {
	case <-s.m.Stopped():
		s.close()
	case <-s.closed.Done():
	}
	s.eyes.Lock()
	all := make([]*func(), 0, len(s.eyes.missed))
	for missed := range s.eyes.missed {
		all = append(all, missed)
	}
	if s.eyes.session != nil {
		s.eyes.session.Close()
	}
	s.eyes.Unlock()
	for _, missed := range all {
		(*missed)()
	}
}

// meanings maps the engine's errors to those of package semaphore.
var meanings = []struct{ engine, means error }{
	{semaphores.ErrNotFound, semaphore.ErrNotFound},
	{semaphores.ErrDeleted, semaphore.ErrDeleted},
	{semaphores.ErrNotEmpty, semaphore.ErrNotEmpty},
	{semaphores.ErrOrder, semaphore.ErrOrder},
	{semaphores.ErrInvalid, semaphore.ErrInvalid},
	{semaphores.ErrTooMany, semaphore.ErrNoRoom},
	{semaphores.ErrDiskFull, semaphore.ErrNoRoom},
	{failure.ErrClosed, semaphore.ErrClosed},
}

// do executes one change and converts its error.
func (s *Semaphores) do(ctx context.Context, c semaphores.Change, of *semaphores.Of) error {
	session, err := s.get(ctx)
	if err != nil {
		return err
	}
	defer s.put(session)
	if err = s.m.Do(session, c); err == nil {
		err = of.Err
	}
	for _, row := range meanings {
		if errors.Is(err, row.engine) {
			return fmt.Errorf("%w (%w)", row.means, err)
		}
	}
	return err
}

func settings(s semaphore.Settings) semaphores.Settings {
	o := semaphores.Settings{Active: s.Active, TryRelease: s.TryRelease, Ascending: s.Ascending}
	if s.Lease != nil {
		o.Lease = new(ms(*s.Lease))
	}
	return o
}

// Create implements semaphore.Backend.
func (s *Semaphores) Create(ctx context.Context, key string, o semaphore.Settings) (created bool, err error) {
	if err := s.alarm(semaphore.ErrNoRoom); err != nil {
		return false, err
	}
	c := semaphores.Create{Of: semaphores.Of{Key: key}, Settings: settings(o)}
	err = s.do(ctx, &c, &c.Of)
	return c.Created, err
}

// Update implements semaphore.Backend.
func (s *Semaphores) Update(ctx context.Context, key string, o semaphore.Settings) error {
	c := semaphores.Update{Of: semaphores.Of{Key: key}, Settings: settings(o)}
	return s.do(ctx, &c, &c.Of)
}

// Delete implements semaphore.Backend.
func (s *Semaphores) Delete(ctx context.Context, key string, ifEmpty bool) (deleted bool, err error) {
	c := semaphores.Delete{Of: semaphores.Of{Key: key}, IfEmpty: ifEmpty}
	err = s.do(ctx, &c, &c.Of)
	return err == nil && !c.Missing, err
}

func info(i *semaphores.Info) semaphore.Info {
	return semaphore.Info{
		Key: i.Key, Active: i.Config.Active, TryRelease: i.Config.TryRelease, Ascending: i.Config.Ascending, Lease: span(i.Config.Lease),
		Waiting: i.Waiting, Acquired: i.Acquired, Asked: i.TryRelease,
	}
}

// Info implements semaphore.Backend.
func (s *Semaphores) Info(ctx context.Context, key string) (semaphore.Info, error) {
	c := semaphores.Look{Of: semaphores.Of{Key: key}}
	if err := s.do(ctx, &c, &c.Of); err != nil {
		return semaphore.Info{}, err
	}
	return info(&c.Info), nil
}

// pageSize is the number of semaphores or tasks per page.
const pageSize = 1000

// List implements semaphore.Backend.
func (s *Semaphores) List(ctx context.Context, pattern, after string) (page []semaphore.Info, next string, err error) {
	session, err := s.get(ctx)
	if err != nil {
		return nil, "", err
	}
	defer s.put(session)
	if pattern == "" {
		pattern = "*"
	}
	contains, _ := glob.Prefix(pattern)
	all, next := s.m.List(session, contains, after, pageSize)
	for i := range all {
		if glob.Match(pattern, all[i].Key) {
			page = append(page, info(&all[i]))
		}
	}
	return page, next, nil
}

// Enqueue implements semaphore.Backend.
func (s *Semaphores) Enqueue(ctx context.Context, key string, entries []semaphore.Entry) ([]semaphore.Status, error) {
	if err := s.alarm(semaphore.ErrNoRoom); err != nil {
		return nil, err
	}
	c := semaphores.Enqueue{Of: semaphores.Of{Key: key}, Entries: make([]semaphores.Entry, len(entries))}
	for i, e := range entries {
		c.Entries[i] = semaphores.Entry{Task: e.Task, Priority: e.Priority, Lease: ms(e.Lease)}
	}
	if err := s.do(ctx, &c, &c.Of); err != nil {
		return nil, err
	}
	statuses := make([]semaphore.Status, len(c.States))
	for i := range c.States {
		statuses[i] = standing(&c.States[i])
	}
	return statuses, nil
}

func standing(st *semaphores.State) semaphore.Status {
	if !st.Found {
		return semaphore.None
	}
	return semaphore.Status(st.Status.String())
}

// Release implements semaphore.Backend.
func (s *Semaphores) Release(ctx context.Context, key string, tasks []string) (released int, err error) {
	c := semaphores.Release{Of: semaphores.Of{Key: key}, Tasks: tasks}
	err = s.do(ctx, &c, &c.Of)
	for _, was := range c.Released {
		if was {
			released++
		}
	}
	return released, err
}

// Renew implements semaphore.Backend.
func (s *Semaphores) Renew(ctx context.Context, key string, tasks []string) ([]bool, error) {
	c := semaphores.Renew{Of: semaphores.Of{Key: key}, Tasks: tasks}
	err := s.do(ctx, &c, &c.Of)
	return c.Renewed, err
}

// Look implements semaphore.Backend.
func (s *Semaphores) Look(ctx context.Context, key string, tasks []string) ([]semaphore.Task, error) {
	c := semaphores.Status{Of: semaphores.Of{Key: key}, Tasks: tasks}
	if err := s.do(ctx, &c, &c.Of); err != nil {
		return nil, err
	}
	all := make([]semaphore.Task, len(tasks))
	now := time.Now()
	for i := range c.States {
		all[i] = task(&c.States[i], now)
		all[i].Task = tasks[i]
	}
	return all, nil
}

func task(st *semaphores.State, now time.Time) semaphore.Task {
	if !st.Found {
		return semaphore.Task{}
	}
	t := semaphore.Task{
		Task: st.ID, Status: standing(st), Priority: st.Priority, Position: st.Position, Enqueued: time.UnixMicro(st.Enqueued), Lease: span(st.Lease),
	}
	if st.Status != core.Wait && st.Until > 0 {
		t.Left = max(time.UnixMilli(st.Until).Sub(now), time.Millisecond)
	}
	return t
}

// Tasks implements semaphore.Backend.
func (s *Semaphores) Tasks(ctx context.Context, key string, from int, only []semaphore.Status) (page []semaphore.Task, next int, err error) {
	c := semaphores.Page{Of: semaphores.Of{Key: key}, From: from, Limit: pageSize}
	for _, o := range only {
		status, ok := core.ParseStatus(string(o))
		if !ok {
			return nil, 0, fmt.Errorf("%w: the status %q", semaphore.ErrInvalid, o)
		}
		c.Only = append(c.Only, status)
	}
	if err := s.do(ctx, &c, &c.Of); err != nil {
		return nil, 0, err
	}
	now := time.Now()
	for i := range c.States {
		page = append(page, task(&c.States[i], now))
	}
	return page, c.Next, nil
}

// Watch implements semaphore.Backend.
func (s *Semaphores) Watch(ctx context.Context, o semaphore.WatchOptions, fn func(semaphore.Event)) (stop func(), err error) {
	o.Pattern = cmp.Or(o.Pattern, "*")
	prefix, literal := glob.Prefix(o.Pattern)
	return s.watch(ctx, semaphores.WatchOptions{Key: prefix, Prefix: !literal, Task: o.Task, All: o.All}, func(e *semaphores.Event) {
		if literal || glob.Match(o.Pattern, e.Key) {
			fn(event(e))
		}
	}, func() { fn(semaphore.Event{Kind: semaphore.EventMissed}) })
}

// Follow implements semaphore.Backend.
func (s *Semaphores) Follow(ctx context.Context, key, task string, fn func(semaphore.Kind)) (stop func(), err error) {
	return s.watch(ctx, semaphores.WatchOptions{Key: key, Task: task, All: true}, func(e *semaphores.Event) { fn(kind(e)) },
		func() { fn(semaphore.EventMissed) })
}

// watch has fn called for events of tasks, and missed called when no more events will follow.
func (s *Semaphores) watch(ctx context.Context, o semaphores.WatchOptions, fn func(*semaphores.Event), missed func()) (stop func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.eyes.Lock()
	defer s.eyes.Unlock()
	if s.closed.Err() != nil {
		return nil, semaphore.ErrClosed
	}
	if s.eyes.session == nil {
		if s.eyes.session, err = s.broker.Operate(s.vhost); err != nil {
			return nil, err
		}
	}
	end, err := s.m.Watch(s.eyes.session, o, func(events []semaphores.Event) {
		for i := range events {
			if events[i].Info == nil {
				fn(&events[i])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s.eyes.missed[&missed] = struct{}{}
	return func() {
		end()
		s.eyes.Lock()
		defer s.eyes.Unlock()
		delete(s.eyes.missed, &missed)
	}, nil
}

// kind returns the kind of an event.
func kind(e *semaphores.Event) semaphore.Kind {
	switch {
	case e.Event != 0:
		return semaphore.Kind(e.Event.String())
	case e.Gone:
		return semaphore.EventReleased
	}
	return semaphore.EventEnqueued
}

func event(e *semaphores.Event) semaphore.Event {
	out := semaphore.Event{Kind: kind(e), Key: e.Key, Task: e.Task.ID, Priority: e.Task.Priority, Seq: e.Seq}
	if !e.Gone {
		out.Status = semaphore.Status(e.Task.Status.String())
	}
	return out
}
