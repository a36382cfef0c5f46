package semaphore

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/semaphore"
)

func TestCore(t *testing.T) { playAll(t, func(*testing.T) side { return newCore() }) }

// core is the state alone, with the simplest possible keeper.
type core struct {
	states map[string]*numbered
	told   []event
}

type numbered struct {
	*semaphore.State
	transitions uint64
}

func newCore() *core { return &core{states: map[string]*numbered{}} }

func (s settings) apply(c semaphore.Config) (semaphore.Config, error) {
	for given, to := range map[*int]*int{s.active: &c.Active, s.tryRelease: &c.TryRelease} {
		if given != nil && *given < 0 {
			return c, errInvalid
		}
		if given != nil {
			*to = *given
		}
	}
	return c, nil
}

func (c *core) create(key string, s settings) (active, tryRelease int, err error) {
	if c.states[key] == nil {
		config, err := s.apply(semaphore.Config{Active: 1000, TryRelease: 900})
		if err != nil {
			return 0, 0, err
		}
		c.states[key] = &numbered{State: semaphore.New(config)}
	}
	config := c.states[key].Config()
	return config.Active, config.TryRelease, nil
}

func (c *core) update(key string, s settings) error {
	state := c.states[key]
	if state == nil {
		return errNotFound
	}
	config, err := s.apply(state.Config())
	if err != nil {
		return err
	}
	if err := state.Configure(config); err != nil {
		return err
	}
	c.settle(key)
	return nil
}

func (c *core) drop(key string, ifEmpty bool) (there bool, err error) {
	state := c.states[key]
	if state == nil {
		return false, nil
	}
	if ifEmpty && state.Len() > 0 {
		return false, errNotEmpty
	}
	for t := range state.From(1) {
		state.transitions++
		c.told = append(c.told, event{Key: key, Task: t.ID, Event: semaphore.EventDeleted.String(), Priority: t.Priority, Seq: state.transitions})
	}
	delete(c.states, key)
	return true, nil
}

func (c *core) enqueue(key string, entries []semaphore.Task) (statuses []semaphore.Status, err error) {
	state := c.states[key]
	if state == nil {
		return nil, errNotFound
	}
	for _, e := range entries {
		was, _ := state.Get(e.ID)
		was.ID, was.Priority = e.ID, e.Priority
		state.Put(was)
	}
	c.settle(key)
	for _, e := range entries {
		t, _ := state.Get(e.ID)
		statuses = append(statuses, t.Status)
	}
	return statuses, nil
}

func (c *core) release(key string, tasks []string) (n int, err error) {
	state := c.states[key]
	if state == nil {
		return 0, errNotFound
	}
	for _, id := range tasks {
		if _, ok := state.Remove(id); ok {
			n++
		}
	}
	c.settle(key)
	return n, nil
}

func (c *core) status(key, task string) (status semaphore.Status, there bool, err error) {
	if c.states[key] == nil {
		return 0, false, errNotFound
	}
	t, there := c.states[key].Get(task)
	return t.Status, there, nil
}

func (c *core) tasks(key string, only *semaphore.Status) (all []semaphore.Task, err error) {
	if c.states[key] == nil {
		return nil, errNotFound
	}
	for t := range c.states[key].From(1) {
		if only == nil || t.Status == *only {
			all = append(all, t)
		}
	}
	return all, nil
}

func (c *core) events() []event {
	told := c.told
	c.told = nil
	return told
}

// settle applies the rule.
func (c *core) settle(key string) {
	state := c.states[key]
	for {
		tr, more := state.Next()
		if !more {
			return
		}
		st := semaphore.Acquired
		if tr.Event == semaphore.EventTryRelease {
			st = semaphore.TryRelease
		}
		state.SetStatus(tr.Task, st, 0)
		state.transitions++
		t, _ := state.Get(tr.Task)
		c.told = append(c.told, event{Key: key, Task: tr.Task, Event: tr.Event.String(), Status: st.String(), Priority: t.Priority, Seq: state.transitions})
	}
}
