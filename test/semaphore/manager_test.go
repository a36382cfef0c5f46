package semaphore

import (
	"errors"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestManager runs the scripts on the manager of a broker.
func TestManager(t *testing.T) { playAll(t, func(t *testing.T) side { return startManager(t) }) }

// manager is a broker in this process.
type manager struct {
	t    testing.TB
	m    *semaphores.Manager
	s    *broker.Session
	told chan []event
}

func startManager(t testing.TB) *manager {
	m := semaphores.New(semaphores.Options{Logger: slog.New(slog.DiscardHandler)})
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.StateMachines = protocoltest.Machines(m, nil) })
	must(t, m.Start(b))
	t.Cleanup(func() {
		m.Stop()
		enginetest.Close(t, b)
	})
	s, err := b.Operate("/")
	must(t, err)
	side := &manager{t: t, m: m, s: s, told: make(chan []event, 10_000)}
	stop, err := m.Watch(s, semaphores.WatchOptions{}, side.hear)
	must(t, err)
	t.Cleanup(stop)
	return side
}

// hear receives events before the change that caused them returns.
func (m *manager) hear(events []semaphores.Event) {
	var all []event
	for _, e := range events {
		one := event{Key: e.Key, Task: e.Task.ID, Event: e.Event.String(), Priority: e.Task.Priority, Seq: e.Seq}
		if !e.Gone {
			one.Status = e.Task.Status.String()
		}
		all = append(all, one)
	}
	m.told <- all
}

func (m *manager) events() (all []event) {
	for {
		select {
		case some := <-m.told:
			all = append(all, some...)
		default:
			return all
		}
	}
}

// do applies a change, and returns its error in the words of this package.
func (m *manager) do(c semaphores.Change, of *semaphores.Of) error {
	if err := m.m.Do(m.s, c); err != nil {
		m.t.Fatal(err)
	}
	for is, word := range map[error]error{semaphores.ErrNotFound: errNotFound, semaphores.ErrInvalid: errInvalid, semaphores.ErrNotEmpty: errNotEmpty} {
		if errors.Is(of.Err, is) {
			return word
		}
	}
	return of.Err
}

func (m *manager) create(key string, s settings) (active, tryRelease int, err error) {
	c := &semaphores.Create{Of: semaphores.Of{Key: key}, Settings: semaphores.Settings{Active: s.active, TryRelease: s.tryRelease}}
	err = m.do(c, &c.Of)
	return c.Info.Config.Active, c.Info.Config.TryRelease, err
}

func (m *manager) update(key string, s settings) error {
	c := &semaphores.Update{Of: semaphores.Of{Key: key}, Settings: semaphores.Settings{Active: s.active, TryRelease: s.tryRelease}}
	return m.do(c, &c.Of)
}

func (m *manager) drop(key string, ifEmpty bool) (there bool, err error) {
	c := &semaphores.Delete{Of: semaphores.Of{Key: key}, IfEmpty: ifEmpty}
	err = m.do(c, &c.Of)
	return !c.Missing, err
}

func (m *manager) enqueue(key string, entries []semaphore.Task) (statuses []semaphore.Status, err error) {
	c := &semaphores.Enqueue{Of: semaphores.Of{Key: key}}
	for _, e := range entries {
		c.Entries = append(c.Entries, semaphores.Entry{Task: e.ID, Priority: e.Priority})
	}
	err = m.do(c, &c.Of)
	for _, s := range c.States {
		statuses = append(statuses, s.Status)
	}
	return statuses, err
}

func (m *manager) release(key string, tasks []string) (n int, err error) {
	c := &semaphores.Release{Of: semaphores.Of{Key: key}, Tasks: tasks}
	err = m.do(c, &c.Of)
	for _, was := range c.Released {
		if was {
			n++
		}
	}
	return n, err
}

func (m *manager) status(key, task string) (status semaphore.Status, there bool, err error) {
	c := &semaphores.Status{Of: semaphores.Of{Key: key}, Tasks: []string{task}}
	if err := m.do(c, &c.Of); err != nil {
		return 0, false, err
	}
	return c.States[0].Status, c.States[0].Found, nil
}

func (m *manager) tasks(key string, only *semaphore.Status) (all []semaphore.Task, err error) {
	c := &semaphores.Page{Of: semaphores.Of{Key: key}, Limit: 1000}
	if only != nil {
		c.Only = []semaphore.Status{*only}
	}
	err = m.do(c, &c.Of)
	for _, s := range c.States {
		all = append(all, s.Task)
	}
	return all, err
}
