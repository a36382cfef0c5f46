package semaphores

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// The permissions that changes need, as in catalog.Session.May.
const (
	toConfigure = "configure"
	toWrite     = "write"
	toRead      = "read"
)

func (*Create) needs() string  { return toConfigure }
func (*Update) needs() string  { return toConfigure }
func (*Delete) needs() string  { return toConfigure }
func (*Enqueue) needs() string { return toWrite }
func (*Release) needs() string { return toWrite }
func (*Renew) needs() string   { return toWrite }
func (*Expect) needs() string  { return toRead }

func (c *Create) check() error { return c.Settings.check(c.Key) }
func (c *Update) check() error { return c.Settings.check(c.Key) }
func (c *Delete) check() error { return nil }

func (c *Enqueue) check() error {
	if err := checkCount(c.Key, len(c.Entries)); err != nil {
		return err
	}
	for i := range c.Entries {
		if err := c.Entries[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Release) check() error { return checkTasks(c.Key, c.Tasks) }
func (c *Renew) check() error   { return checkTasks(c.Key, c.Tasks) }

func (c *Expect) check() error {
	if c.Task == "" {
		return nil
	}
	return CheckTask(c.Task)
}

func (c *Create) do(r *round) error {
	s := r.m.table.find(r.vhost(), c.Key)
	c.Created = s == nil
	if c.Created {
		if err := r.mayCreate(); err != nil {
			return err
		}
		s = r.create(c.Key, c.Settings.apply(semaphore.Config{Active: DefaultActive, TryRelease: DefaultTryRelease}))
		r.log("semaphore created", s)
	}
	c.Info = s.info()
	return nil
}

// mayCreate checks that another semaphore can be created. Errors: failure.ErrVHostNotFound (the
// session outlived its virtual host), those of room.
func (r *round) mayCreate() error {
	if vhost := r.vhost(); !r.m.b.HasVHost(vhost) {
		return &failure.Error{Err: failure.ErrVHostNotFound, Kind: "vhost", Name: vhost.Name, VHost: vhost.Name}
	}
	return r.room(semBytes)
}

func (c *Update) do(r *round) error {
	c.Created = false
	s, err := r.find(c.Key)
	if err != nil {
		if !c.Create {
			return err
		}
		made := Create{Of: c.Of, Settings: c.Settings}
		err = made.do(r)
		c.Info, c.Created = made.Info, err == nil
		return err
	}
	if r.configure(s, c.Settings.apply(s.state.Config())) != nil {
		return &failure.Error{Err: ErrOrder, Kind: "semaphore", Name: c.Key, VHost: s.vhost.Name}
	}
	r.log("semaphore updated", s)
	r.changed(s)
	return nil
}

func (c *Update) answer(r *round) {
	if s, err := r.find(c.Key); err == nil {
		c.Info = s.info()
	}
}

func (c *Delete) do(r *round) error {
	s, err := r.find(c.Key)
	if c.Missing = err != nil; c.Missing {
		return nil
	}
	if c.IfEmpty && s.state.Len() > 0 {
		return &failure.Error{Err: ErrNotEmpty, Kind: "semaphore", Name: c.Key, VHost: s.vhost.Name}
	}
	r.delete(s)
	r.log("semaphore deleted", s)
	return nil
}

func (c *Enqueue) do(r *round) error {
	s, err := r.find(c.Key)
	if err != nil {
		return err
	}
	if err := r.room(taskBytes * int64(len(c.Entries))); err != nil && s.lacks(c.Entries) {
		return err
	}
	c.Added = 0
	for i := range c.Entries {
		if r.enqueue(s, &c.Entries[i]) {
			c.Added++
		}
	}
	r.changed(s)
	return nil
}

func (c *Enqueue) answer(r *round) {
	c.States = make([]State, len(c.Entries))
	s, err := r.find(c.Key)
	if err != nil {
		return // a later change of the same request deleted it
	}
	for i := range c.Entries {
		c.States[i] = s.look(c.Entries[i].Task)
	}
}

// taskBytes is roughly the minimum memory of a task.
const taskBytes = 50

// lacks reports whether one of the tasks does not exist yet.
func (s *sem) lacks(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool {
		_, there := s.state.Get(e.Task)
		return !there
	})
}

// enqueue adds a task or changes its settings. Enqueueing a task again renews its lease.
func (r *round) enqueue(s *sem, e *Entry) (added bool) {
	was, there := s.state.Get(e.Task)
	task := was
	if !there {
		task = semaphore.Task{ID: e.Task, Enqueued: r.now}
	}
	task.Priority, task.Lease, task.Owner = e.Priority+0, e.Lease, e.Owner // +0: -0 is 0
	if task.Status != semaphore.Wait {
		task.Until = r.until(s, &task)
	}
	if there && task.Priority == was.Priority && task.Lease == was.Lease && task.Owner == was.Owner {
		r.m.table.setStatus(s, task.ID, task.Status, task.Until)
		r.touch(s)
		return false
	}
	r.put(s, task, was)
	return !there
}

func (c *Release) do(r *round) error {
	s, err := r.find(c.Key)
	if err != nil {
		return err
	}
	c.Released = make([]bool, len(c.Tasks))
	for i, id := range c.Tasks {
		c.Released[i] = r.remove(s, id)
	}
	r.changed(s)
	return nil
}

func (c *Renew) do(r *round) error {
	s, err := r.find(c.Key)
	if err != nil {
		return err
	}
	c.Renewed = make([]bool, len(c.Tasks))
	for i, id := range c.Tasks {
		c.Renewed[i] = r.renew(s, id)
	}
	return nil
}

// renew restarts the lease of a running task. It is not logged: after a start every lease has its
// full duration again.
func (r *round) renew(s *sem, id string) bool {
	t, ok := s.state.Get(id)
	if !ok || t.Status == semaphore.Wait {
		return false
	}
	r.m.table.setStatus(s, id, t.Status, r.until(s, &t))
	r.touch(s)
	return true
}

func (c *Expect) do(r *round) error {
	var info Info
	var state State
	s := r.m.table.find(r.vhost(), c.Key)
	if s != nil {
		info = s.info()
		if c.Task != "" {
			state = s.look(c.Task)
		}
	}
	if !c.Holds(info, s != nil, state) {
		return &failure.Error{Err: failure.ErrStale, Kind: "semaphore", Name: c.Key, VHost: r.q.s.VHost()}
	}
	return nil
}

// room checks that there is memory for n more bytes and space on the disk. Changes that free memory
// do not call it. Errors: ErrTooMany, ErrDiskFull.
func (r *round) room(n int64) error {
	if a := r.m.b.Alarm(); a != nil && a.Reason == broker.LowOnDisk {
		return &failure.Error{Err: ErrDiskFull, Kind: "semaphore"}
	}
	if most := r.m.o.MaxBytes; most > 0 && n > 0 && r.m.table.bytes+n > most {
		return &failure.Error{Err: ErrTooMany, Kind: "semaphore"}
	}
	return nil
}
