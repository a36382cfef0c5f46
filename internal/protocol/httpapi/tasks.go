package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// TaskPage is one page of the tasks of a semaphore, in order, or the requested tasks.
type TaskPage struct {
	Tasks []semjson.Task `json:"tasks"`
	Next  int            `json:"next,omitempty"` // for ?from=, if there are more
}

// Entries are tasks to be enqueued.
type Entries struct {
	Tasks []semjson.Entry `json:"tasks"`
}

// Enqueued are the tasks of Entries with their positions.
type Enqueued struct {
	Tasks []semjson.Task `json:"tasks"`
	Added int            `json:"added"` // how many are new
}

// TaskNames names tasks to be released or renewed.
type TaskNames struct {
	Tasks []semjson.TaskID `json:"tasks"`
}

// Released lists which tasks were released.
type Released struct {
	Released []string `json:"released"`
	Missing  []string `json:"missing"` // tasks that do not exist
}

// Renewed lists which leases were renewed.
type Renewed struct {
	Renewed    []string `json:"renewed"`
	NotRunning []string `json:"not_running"` // tasks that wait, or do not exist
}

// TaskChange enqueues a task, or changes its priority.
type TaskChange struct {
	Priority *float64 `json:"priority"`        // required
	Lease    int64    `json:"lease,omitempty"` // ms; 0: that of the semaphore
}

// longestWait limits ?wait=.
const longestWait = 10 * time.Minute

// taskPaths serves the tasks of a semaphore.
func (a *API) taskPaths() {
	const tasks = "/api/semaphores/{vhost}/{key}/tasks"
	a.Get(rest.Login, tasks, a.listTasks)
	a.Handle(rest.Login, "POST "+tasks, a.enqueue)
	a.Handle(rest.Login, "POST "+tasks+"/release", a.release)
	a.Handle(rest.Login, "POST "+tasks+"/renew", a.renew)
	a.Get(rest.Login, tasks+"/{task}", a.task)
	a.Handle(rest.Login, "PUT "+tasks+"/{task}", a.putTask)
	a.Delete(rest.Login, tasks+"/{task}", func(r *http.Request) error {
		change := semaphores.Release{Of: of(r), Tasks: []string{rest.Name(r, "task")}}
		if err := a.do(r, &change, &change.Err); err != nil {
			return err
		}
		if !change.Released[0] {
			return noTask(change.Tasks[0])
		}
		return nil
	})
}

func noTask(task string) error {
	return semaphoreRefusal(&failure.Error{Err: semaphores.ErrNoTask, Kind: "task", Name: task})
}

// listTasks returns a page of tasks or, with ?task=, the states of these tasks.
func (a *API) listTasks(r *http.Request) (any, error) {
	if tasks := r.URL.Query()["task"]; len(tasks) > 0 {
		look := semaphores.Status{Of: of(r), Tasks: tasks}
		err := a.do(r, &look, &look.Err)
		return TaskPage{Tasks: semjson.OfStates(tasks, look.States)}, err
	}
	from, err := rest.Number(r, "from", 1, 1<<53)
	if err != nil {
		return nil, err
	}
	limit, err := rest.Number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return nil, err
	}
	var names []string
	if text := r.URL.Query().Get("status"); text != "" {
		names = strings.Split(text, ",")
	}
	only, err := semjson.Only(rest.Name(r, "key"), names)
	if err != nil {
		return nil, semaphoreRefusal(err)
	}
	page := semaphores.Page{Of: of(r), From: from, Limit: limit, Only: only}
	err = a.do(r, &page, &page.Err)
	return TaskPage{semjson.OfStates(nil, page.States), page.Next}, err
}

// enqueue enqueues tasks, all before the semaphore decides which of them run.
func (a *API) enqueue(r *http.Request) (rest.Answer, error) {
	var in Entries
	if err := read(r, &in); err != nil {
		return rest.Answer{}, err
	}
	if err := fewEnough(len(in.Tasks)); err != nil {
		return rest.Answer{}, err
	}
	change := semaphores.Enqueue{Of: of(r), Entries: make([]semaphores.Entry, len(in.Tasks))}
	names := make([]string, len(in.Tasks))
	for i, t := range in.Tasks {
		entry, err := t.Of(change.Key)
		if err != nil {
			return rest.Answer{}, semaphoreRefusal(err)
		}
		change.Entries[i], names[i] = entry, entry.Task
	}
	err := a.do(r, &change, &change.Err)
	return rest.Answer{Status: http.StatusOK, Body: Enqueued{semjson.OfStates(names, change.States), change.Added}}, err
}

func (a *API) release(r *http.Request) (rest.Answer, error) {
	names, err := taskNames(r)
	if err != nil {
		return rest.Answer{}, err
	}
	change := semaphores.Release{Of: of(r), Tasks: names}
	err = a.do(r, &change, &change.Err)
	released, missing := divide(names, change.Released)
	return rest.Answer{Status: http.StatusOK, Body: Released{released, missing}}, err
}

func (a *API) renew(r *http.Request) (rest.Answer, error) {
	names, err := taskNames(r)
	if err != nil {
		return rest.Answer{}, err
	}
	change := semaphores.Renew{Of: of(r), Tasks: names}
	err = a.do(r, &change, &change.Err)
	renewed, not := divide(names, change.Renewed)
	return rest.Answer{Status: http.StatusOK, Body: Renewed{renewed, not}}, err
}

// taskNames reads the tasks that a request is about.
func taskNames(r *http.Request) ([]string, error) {
	var in TaskNames
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return rest.List(in.Tasks, func(id semjson.TaskID) string { return string(id) }), fewEnough(len(in.Tasks))
}

// fewEnough returns an error if a request names too many tasks.
func fewEnough(tasks int) error {
	if tasks <= semaphores.MaxEntries {
		return nil
	}
	reason := fmt.Sprintf("there are %d tasks in the request; give at most %d at a time", tasks, semaphores.MaxEntries)
	return rest.Fail(http.StatusRequestEntityTooLarge, semjson.TooLarge, reason)
}

// divide splits tasks by the booleans at the same indexes.
func divide(tasks []string, is []bool) (yes, no []string) {
	yes, no = []string{}, []string{} // never null in JSON
	for i, ok := range is {
		if ok {
			yes = append(yes, tasks[i])
		} else {
			no = append(no, tasks[i])
		}
	}
	return yes, no
}

// task returns one task. With ?wait= it answers when the task runs, or when that time is over.
func (a *API) task(r *http.Request) (any, error) {
	wait, err := waitOf(r)
	if err != nil {
		return nil, err
	}
	task := rest.Name(r, "task")
	var state semaphores.State
	err = a.with(r, func(ctx context.Context, s *broker.Session) (err error) {
		state, err = a.look(s, rest.Name(r, "key"), task)
		if err == nil {
			state, err = a.await(ctx, s, rest.Name(r, "key"), state, wait)
		}
		return err
	})
	return semjson.OfState(task, &state), err
}

// putTask enqueues a task, or changes its priority. With ?wait= it answers when the task runs, or
// when that time is over. The task stays enqueued even if the client disconnects.
func (a *API) putTask(r *http.Request) (rest.Answer, error) {
	wait, err := waitOf(r)
	if err != nil {
		return rest.Answer{}, err
	}
	var in TaskChange
	if err := read(r, &in); err != nil {
		return rest.Answer{}, err
	}
	task := rest.Name(r, "task")
	entry, err := semjson.Entry{Task: semjson.TaskID(task), Priority: in.Priority, Lease: in.Lease}.Of(rest.Name(r, "key"))
	if err != nil {
		return rest.Answer{}, semaphoreRefusal(err)
	}
	change := semaphores.Enqueue{Of: of(r), Entries: []semaphores.Entry{entry}}
	var state semaphores.State
	err = a.with(r, func(ctx context.Context, s *broker.Session) (err error) {
		if err = a.doIn(s, &change, &change.Err); err == nil {
			state, err = a.await(ctx, s, change.Key, change.States[0], wait)
		}
		return err
	})
	status := http.StatusOK
	if change.Added > 0 {
		status = http.StatusCreated
	}
	return rest.Answer{Status: status, Body: semjson.OfState(task, &state)}, err
}

// look returns the state of one task. Errors: semaphores.ErrNoTask and others of the manager.
func (a *API) look(s *broker.Session, key, task string) (semaphores.State, error) {
	look := semaphores.Status{Of: semaphores.Of{Key: key}, Tasks: []string{task}}
	if err := a.doIn(s, &look, &look.Err); err != nil {
		return semaphores.State{}, err
	}
	if !look.States[0].Found {
		return semaphores.State{}, noTask(task)
	}
	return look.States[0], nil
}

// await waits until a task runs, the time is over, or the server drains, and returns its state. was
// is its state before. Errors: semaphores.ErrNoTask and others of the manager; the context's error.
func (a *API) await(ctx context.Context, s *broker.Session, key string, was semaphores.State, wait time.Duration) (semaphores.State, error) {
	if wait == 0 || was.Status != semaphore.Wait {
		return was, nil
	}
	c := rest.CallerOf(ctx)
	c.TakesTime(wait)
	during, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer c.WhenEnding(cancel)()
	state, err := a.semaphores.AwaitEnqueued(during, s, key, was.ID)
	switch {
	case err == nil || during.Err() == nil:
		return state, err
	case ctx.Err() != nil:
		return state, context.Cause(ctx)
	}
	now, err := a.look(s, key, was.ID)
	if errors.Is(err, failure.ErrAccessRefused) { // a user who may only enqueue learns only what the enqueue returned
		return was, nil
	}
	return now, err
}

// waitOf reads ?wait=.
func waitOf(r *http.Request) (time.Duration, error) { return rest.Span(r, "wait", 0, longestWait) }
