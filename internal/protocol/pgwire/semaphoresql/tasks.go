package semaphoresql

import (
	"errors"
	"iter"
	"slices"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

// taskFunctions returns two variants of each function, for numeric task ids and for text task ids.
func taskFunctions() []*expr.Function {
	all := slices.Concat(functionsOf(value.Int8), functionsOf(value.Text))
	return append(all, &expr.Function{
		Name: "tasks", Args: []expr.Arg{arg("key", value.Text), optional("status", value.SemaphoreStatus)}, Returns: value.SemaphoreTask,
		Volatility: expr.Volatile, Rows: tasks, Comment: "the tasks of a semaphore in order, all or those with a status",
	})
}

// functionsOf returns the functions for task ids of a type.
func functionsOf(id *value.Type) []*expr.Function {
	key, task := arg("key", value.Text), arg("task", id)
	all := []*expr.Function{
		changing(expr.Function{
			Name: "enqueue", Args: []expr.Arg{key, task, arg("priority", value.Float8), optional("lease", value.IntervalType)},
			Returns: value.SemaphoreStatus, Comment: "put a task into the line, or change its priority",
		}, enqueue),
		changing(expr.Function{
			Name: "release", Args: []expr.Arg{key, task}, Returns: value.Bool, Comment: "take a task out; false: it is not there",
		}, release),
		changing(expr.Function{
			Name: "renew", Args: []expr.Arg{key, task}, Returns: value.Bool, Comment: "begin the lease of a task anew; false: it does not run",
		}, renew),
		function(expr.Function{
			Name: "status", Args: []expr.Arg{key, task}, Returns: value.SemaphoreStatus, Comment: "what a task may do; NULL: it is not there",
		}, status),
		enqueueAllFunction(expr.Function{
			Name: "enqueue_all", Args: []expr.Arg{key, arg("tasks", id.Array), arg("priorities", value.Float8.Array)}, Returns: value.SemaphoreStatus,
			Comment: "put tasks into the line, or change their priorities, at once",
		}),
		changing(expr.Function{
			Name: "release_all", Args: []expr.Arg{key, arg("tasks", id.Array)}, Returns: value.Int4,
			Comment: "take tasks out at once; how many were there",
		}, releaseAll),
	}
	for _, f := range all {
		f.Yields = id == value.Text
	}
	return all
}

// change is a change of a task that takes effect at the commit.
type change struct {
	now   func() (value.Datum, error) // the result of the call before the commit
	later func() value.Datum          // the result of the call after the commit
}

// changing returns a function that changes a task.
func changing(f expr.Function, make func(c *call) (*change, error)) *expr.Function {
	f.Volatility = expr.Volatile
	f.Call = func(env *expr.Env, args []value.Datum) (value.Datum, error) {
		made, err := make(newCall(env, &f, args))
		if err != nil {
			return nil, err
		}
		return made.now()
	}
	f.Later = func(env *expr.Env, args []value.Datum) (expr.Promise, error) {
		made, err := make(newCall(env, &f, args))
		if err != nil {
			return nil, err
		}
		return made.later, nil
	}
	return &f
}

// begin returns the semaphore and the task to change, and checks that the user may write the
// semaphore.
func (c *call) begin(function string) (key, task string, err error) {
	if task, err = c.task(); err != nil {
		return "", "", err
	}
	key, err = c.beginKey(function)
	return key, task, err
}

func (c *call) beginKey(function string) (key string, err error) {
	if key, err = c.key(); err != nil {
		return "", err
	}
	if err := c.MayChange(function); err != nil {
		return "", err
	}
	if err := may(c.Session, toWrite, key); err != nil {
		return "", err
	}
	if c.Continues(key) {
		return key, nil // checked for the previous change; the commit checks again
	}
	return key, exists(c.Session, key)
}

func enqueue(c *call) (*change, error) {
	key, task, err := c.begin("enqueue")
	if err != nil {
		return nil, err
	}
	e := semaphores.Entry{Task: task}
	if e.Priority, err = c.priority(2); err != nil {
		return nil, err
	}
	if e.Lease, err = c.lease(3); err != nil {
		return nil, err
	}
	made, err := c.Enqueue(key, e)
	if err != nil {
		return nil, err
	}
	return &change{
		now: func() (value.Datum, error) {
			return before(c.Session, key, task, statusOf)
		},
		later: func() value.Datum { return made.Status.String() },
	}, nil
}

func release(c *call) (*change, error) {
	key, task, err := c.begin("release")
	if err != nil {
		return nil, err
	}
	made, err := c.Release(key, task)
	if err != nil {
		return nil, err
	}
	return &change{
		now: func() (value.Datum, error) {
			return before(c.Session, key, task, isThere)
		},
		later: func() value.Datum { return made.Done },
	}, nil
}

func renew(c *call) (*change, error) {
	key, task, err := c.begin("renew")
	if err != nil {
		return nil, err
	}
	made, err := c.Renew(key, task)
	if err != nil {
		return nil, err
	}
	return &change{
		now: func() (value.Datum, error) {
			return before(c.Session, key, task, func(st semaphores.State) value.Datum { return st.Found && st.Status != semaphore.Wait })
		},
		later: func() value.Datum { return made.Done },
	}, nil
}

// statusOf returns a task's status, WAIT if the task does not exist.
func statusOf(st semaphores.State) value.Datum { return st.Status.String() }

func isThere(st semaphores.State) value.Datum { return st.Found }

// before returns the result of a change before the commit, which of computes from the current state
// of the task. The result is NULL if the user may not look.
func before(s *mbus.Session, key, task string, of func(semaphores.State) value.Datum) (value.Datum, error) {
	all, err := beforeAll(s, key, []string{task}, of)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// beforeAll is before for several tasks.
func beforeAll(s *mbus.Session, key string, tasks []string, of func(semaphores.State) value.Datum) ([]value.Datum, error) {
	all := make([]value.Datum, len(tasks))
	states, err := statesOf(s, key, tasks)
	switch {
	case errors.Is(err, failure.ErrAccessRefused):
		return all, nil
	case err != nil:
		return nil, s.Failed(err)
	}
	for i, st := range states {
		all[i] = of(st)
	}
	return all, nil
}

func stateOf(s *mbus.Session, key, task string) (semaphores.State, error) {
	states, err := statesOf(s, key, []string{task})
	if err != nil {
		return semaphores.State{}, err
	}
	return states[0], nil
}

func statesOf(s *mbus.Session, key string, tasks []string) ([]semaphores.State, error) {
	q := semaphores.Status{Of: semaphores.Of{Key: key}, Tasks: tasks}
	if err := do(s, &q, &q.Of); err != nil {
		return nil, err
	}
	return q.States, nil
}

func status(c *call) (value.Datum, error) {
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	task, err := c.task()
	if err != nil {
		return nil, err
	}
	st, err := stateOf(c.Session, key, task)
	if err != nil || !st.Found {
		return nil, c.Failed(err)
	}
	return st.Status.String(), nil
}

func tasks(env *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
	s := env.Session.(*mbus.Session)
	return func(yield func([]value.Datum, error) bool) {
		key, ok := args[0].(string)
		if !ok {
			return
		}
		info, err := look(s, key)
		if err != nil {
			yield(nil, s.Failed(err))
			return
		}
		for st, err := range pages(env, s, key, only(args[1])) {
			if !yield(taskRow(info.ID, st), s.Failed(err)) || err != nil {
				return
			}
		}
	}
}

// only converts a status argument to the filter of a Page.
func only(d value.Datum) []semaphore.Status {
	label, ok := d.(string)
	if !ok {
		return nil
	}
	st, _ := semaphore.ParseStatus(label)
	return []semaphore.Status{st}
}

// pageSize is the page size for listing tasks.
const pageSize = 512

// pages returns the tasks of a semaphore in order, fetched on demand.
func pages(env *expr.Env, s *mbus.Session, key string, only []semaphore.Status) iter.Seq2[semaphores.State, error] {
	return func(yield func(semaphores.State, error) bool) {
		for from := 1; from > 0; {
			p := semaphores.Page{Of: semaphores.Of{Key: key}, From: from, Limit: pageSize, Only: only}
			err := do(s, &p, &p.Of)
			if err == nil {
				err = env.Ctx.Err()
			}
			if err != nil {
				yield(semaphores.State{}, err)
				return
			}
			for _, st := range p.States {
				if !yield(st, nil) {
					return
				}
			}
			from = p.Next
		}
	}
}
