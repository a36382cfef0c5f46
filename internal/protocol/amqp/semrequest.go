package amqp

import (
	"cmp"
	"encoding/json"
	"fmt"

	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// Limits of a request to semaphores.
const (
	maxRequestBytes = 1 << 20
	maxRequestTasks = 10_000
	maxRequestPage  = 1000 // semaphores or tasks in one answer
)

// semaphoreRequest is the body of a request. An operation ignores fields that it does not use.
type semaphoreRequest struct {
	Op        string `json:"op"`
	Semaphore string `json:"semaphore"`

	Task     *semjson.TaskID   `json:"task"`
	Tasks    []json.RawMessage `json:"tasks"` // names, or the entries of enqueue
	Priority *float64          `json:"priority"`

	Active     *int    `json:"active"`
	TryRelease *int    `json:"try_release"`
	Order      *string `json:"order"`
	Lease      *int64  `json:"lease"` // of a semaphore, or of the tasks that are enqueued

	Create  bool `json:"create"`   // set creates a missing semaphore
	IfEmpty bool `json:"if_empty"` // delete refuses a semaphore with tasks

	From     int      `json:"from"`
	Limit    int      `json:"limit"`
	Status   []string `json:"status"`
	Contains string   `json:"contains"`
	After    string   `json:"after"`
}

// The answers, as docs/protocols/amqp.md describes them.
type (
	semaphoreAnswer struct {
		OK        bool              `json:"ok"`
		Created   bool              `json:"created,omitempty"`
		Semaphore semjson.Semaphore `json:"semaphore"`
	}
	listAnswer struct {
		OK         bool                `json:"ok"`
		Semaphores []semjson.Semaphore `json:"semaphores"`
		Next       string              `json:"next,omitempty"` // after of the next page
	}
	deletedAnswer struct {
		OK      bool `json:"ok"`
		Deleted bool `json:"deleted"`
	}
	tasksAnswer struct {
		OK    bool           `json:"ok"`
		Added *int           `json:"added,omitempty"` // of enqueue
		Tasks []semjson.Task `json:"tasks"`
		Next  int            `json:"next,omitempty"` // from of the next page
	}
	releasedAnswer struct {
		OK       bool     `json:"ok"`
		Released []string `json:"released"` // those that existed
	}
	renewedAnswer struct {
		OK      bool     `json:"ok"`
		Renewed []string `json:"renewed"` // those that are running
	}
)

// semaphoreOp is a decoded request: a change for the manager, and the answer after success. One
// without a change only reads the state in answer.
type semaphoreOp struct {
	change semaphores.Change
	err    *error // of the change
	answer func() any
}

func opOf(of *semaphores.Of, change semaphores.Change, answer func() any) semaphoreOp {
	return semaphoreOp{change, &of.Err, answer}
}

// readRequest decodes a request. It returns semaphores.ErrInvalid if the request is invalid.
func (c *conn) readRequest(body []byte) (semaphoreOp, error) {
	var r semaphoreRequest
	if len(body) > maxRequestBytes {
		return semaphoreOp{}, semjson.Invalid("", "request", fmt.Sprintf("it has more than %d bytes", maxRequestBytes))
	}
	if err := semjson.Decode(body, &r); err != nil {
		return semaphoreOp{}, semjson.Invalid(r.Semaphore, "request", err.Error())
	}
	if r.Limit < 0 || r.Limit > maxRequestPage {
		return semaphoreOp{}, semjson.Invalid(r.Semaphore, "limit", fmt.Sprintf("it is 0 to %d", maxRequestPage))
	}
	switch r.Op {
	case "create", "set":
		return c.settingsRequest(&r)
	case "enqueue":
		return r.enqueue()
	case "release", "renew", "status":
		return r.tasks()
	case "tasks":
		return r.page()
	case "delete":
		d := &semaphores.Delete{Of: r.of(), IfEmpty: r.IfEmpty}
		return opOf(&d.Of, d, func() any { return deletedAnswer{true, !d.Missing} }), nil
	case "show":
		l := &semaphores.Look{Of: r.of()}
		return opOf(&l.Of, l, func() any { return semaphoreAnswer{OK: true, Semaphore: semjson.OfInfo(c.session.VHost(), &l.Info)} }), nil
	case "list":
		return semaphoreOp{answer: func() any { return c.listSemaphores(&r) }}, nil
	case "":
		return semaphoreOp{}, semjson.Invalid(r.Semaphore, "op", "it is missing")
	}
	return semaphoreOp{}, semjson.Invalid(r.Semaphore, "op", fmt.Sprintf("there is no %q", r.Op))
}

func (r *semaphoreRequest) of() semaphores.Of { return semaphores.Of{Key: r.Semaphore} }

// settingsRequest creates or changes a semaphore.
func (c *conn) settingsRequest(r *semaphoreRequest) (semaphoreOp, error) {
	s, err := semjson.Settings{Active: r.Active, TryRelease: r.TryRelease, Order: r.Order, Lease: r.Lease}.Of(r.Semaphore)
	if err != nil {
		return semaphoreOp{}, err
	}
	answer := func(created bool, i *semaphores.Info) any {
		return semaphoreAnswer{true, created, semjson.OfInfo(c.session.VHost(), i)}
	}
	if r.Op == "create" {
		m := &semaphores.Create{Of: r.of(), Settings: s}
		return opOf(&m.Of, m, func() any { return answer(m.Created, &m.Info) }), nil
	}
	u := &semaphores.Update{Of: r.of(), Settings: s, Create: r.Create}
	return opOf(&u.Of, u, func() any { return answer(false, &u.Info) }), nil
}

// enqueue enqueues one task, or many.
func (r *semaphoreRequest) enqueue() (semaphoreOp, error) {
	var entries []semjson.Entry
	switch {
	case (r.Task != nil) == (r.Tasks != nil):
		return semaphoreOp{}, r.needsTasks()
	case r.Task != nil:
		entries = []semjson.Entry{{Task: *r.Task, Priority: r.Priority}}
	case len(r.Tasks) > maxRequestTasks:
		return semaphoreOp{}, r.tooMany()
	default:
		entries = make([]semjson.Entry, len(r.Tasks))
		for i, text := range r.Tasks {
			if err := semjson.Decode(text, &entries[i]); err != nil {
				return semaphoreOp{}, semjson.Invalid(r.Semaphore, "tasks", err.Error())
			}
		}
	}
	e := &semaphores.Enqueue{Of: r.of(), Entries: make([]semaphores.Entry, len(entries))}
	ids := make([]string, len(entries))
	for i, entry := range entries {
		if entry.Lease == 0 && r.Lease != nil {
			entry.Lease = *r.Lease
		}
		var err error
		if e.Entries[i], err = entry.Of(r.Semaphore); err != nil {
			return semaphoreOp{}, err
		}
		ids[i] = e.Entries[i].Task
	}
	return opOf(&e.Of, e, func() any {
		return tasksAnswer{OK: true, Added: &e.Added, Tasks: semjson.OfStates(ids, e.States)}
	}), nil
}

// tasks executes an operation on named tasks.
func (r *semaphoreRequest) tasks() (semaphoreOp, error) {
	var ids []string
	switch {
	case (r.Task != nil) == (r.Tasks != nil):
		return semaphoreOp{}, r.needsTasks()
	case r.Task != nil:
		ids = []string{string(*r.Task)}
	case len(r.Tasks) > maxRequestTasks:
		return semaphoreOp{}, r.tooMany()
	default:
		for _, text := range r.Tasks {
			var id semjson.TaskID
			if err := semjson.Decode(text, &id); err != nil {
				return semaphoreOp{}, semjson.Invalid(r.Semaphore, "tasks", err.Error())
			}
			ids = append(ids, string(id))
		}
	}
	switch r.Op {
	case "release":
		d := &semaphores.Release{Of: r.of(), Tasks: ids}
		return opOf(&d.Of, d, func() any { return releasedAnswer{true, chosen(ids, d.Released)} }), nil
	case "renew":
		d := &semaphores.Renew{Of: r.of(), Tasks: ids}
		return opOf(&d.Of, d, func() any { return renewedAnswer{true, chosen(ids, d.Renewed)} }), nil
	}
	s := &semaphores.Status{Of: r.of(), Tasks: ids}
	return opOf(&s.Of, s, func() any { return tasksAnswer{OK: true, Tasks: semjson.OfStates(ids, s.States)} }), nil
}

// page lists tasks in their order.
func (r *semaphoreRequest) page() (semaphoreOp, error) {
	only, err := semjson.Only(r.Semaphore, r.Status)
	if err != nil {
		return semaphoreOp{}, err
	}
	if r.From < 0 {
		return semaphoreOp{}, semjson.Invalid(r.Semaphore, "from", "positions begin with 1")
	}
	p := &semaphores.Page{Of: r.of(), From: max(r.From, 1), Limit: r.Limit, Only: only}
	return opOf(&p.Of, p, func() any { return tasksAnswer{OK: true, Tasks: semjson.OfStates(nil, p.States), Next: p.Next} }), nil
}

// listSemaphores lists the semaphores that the user may read.
func (c *conn) listSemaphores(r *semaphoreRequest) any {
	infos, next := c.srv.o.Semaphores.List(c.session, r.Contains, r.After, cmp.Or(r.Limit, defaultPage))
	a := listAnswer{OK: true, Semaphores: make([]semjson.Semaphore, len(infos)), Next: next}
	for i := range infos {
		a.Semaphores[i] = semjson.OfInfo(c.session.VHost(), &infos[i])
	}
	return a
}

// defaultPage is how many semaphores a list without a limit has; the manager has the same default
// for tasks.
const defaultPage = 100

func (r *semaphoreRequest) needsTasks() error {
	return semjson.Invalid(r.Semaphore, "task", "either task or tasks must be there")
}

func (r *semaphoreRequest) tooMany() error {
	return semjson.Invalid(r.Semaphore, "tasks", fmt.Sprintf("they are more than %d", maxRequestTasks))
}

// chosen returns the names for which done is true.
func chosen(ids []string, done []bool) []string {
	all := make([]string, 0, len(ids))
	for i, id := range ids {
		if done[i] {
			all = append(all, id)
		}
	}
	return all
}
