package semaphoresql

import (
	"iter"
	"strconv"

	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

// enqueueAllFunction returns the function enqueue_all, which returns the status of each task: the
// status after the commit, or inside a transaction block the status before it.
func enqueueAllFunction(f expr.Function) *expr.Function {
	f.Volatility = expr.Volatile
	f.Rows = func(env *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
		return func(yield func([]value.Datum, error) bool) {
			c := newCall(env, &f, args)
			key, tasks, _, err := c.enqueueAll()
			var all []value.Datum
			if err == nil {
				all, err = beforeAll(c.Session, key, tasks, statusOf)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, d := range all {
				if !yield([]value.Datum{d}, nil) {
					return
				}
			}
		}
	}
	f.LaterRows = func(env *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
		return func(yield func([]value.Datum, error) bool) {
			_, _, made, err := newCall(env, &f, args).enqueueAll()
			if err != nil {
				yield(nil, err)
				return
			}
			for _, c := range made {
				if !yield([]value.Datum{expr.Promise(func() value.Datum { return c.Status.String() })}, nil) {
					return
				}
			}
		}
	}
	return &f
}

// enqueueAll records the changes.
func (c *call) enqueueAll() (key string, tasks []string, made []*mbus.TaskChange, err error) {
	if err := c.given(2); err != nil {
		return "", nil, nil, err
	}
	if key, tasks, err = c.beginAll("enqueue_all"); err != nil {
		return "", nil, nil, err
	}
	priorities := c.args[2].(*value.Array).Elems
	if len(priorities) != len(tasks) {
		return "", nil, nil, pgerror.New(pgerror.InvalidParameterValue, "there are %d tasks and %d priorities", len(tasks), len(priorities))
	}
	made = make([]*mbus.TaskChange, len(tasks))
	for i, task := range tasks {
		e := semaphores.Entry{Task: task}
		if e.Priority, err = priorityOf(priorities[i]); err != nil {
			return "", nil, nil, err
		}
		if made[i], err = c.Enqueue(key, e); err != nil {
			return "", nil, nil, err
		}
	}
	return key, tasks, made, nil
}

// releaseAll releases tasks and returns the number of tasks that existed.
func releaseAll(c *call) (*change, error) {
	key, tasks, err := c.beginAll("release_all")
	if err != nil {
		return nil, err
	}
	made := make([]*mbus.TaskChange, len(tasks))
	for i, task := range tasks {
		if made[i], err = c.Release(key, task); err != nil {
			return nil, err
		}
	}
	return &change{
		now: func() (value.Datum, error) {
			all, err := beforeAll(c.Session, key, tasks, isThere)
			n := int64(0)
			for _, there := range all {
				switch there {
				case nil: // the user lacks the permission to look
					return nil, nil
				case true:
					n++
				}
			}
			return n, err
		},
		later: func() value.Datum {
			n := int64(0)
			for _, r := range made {
				if r.Done {
					n++
				}
			}
			return n
		},
	}, nil
}

// beginAll is begin for an array of tasks.
func (c *call) beginAll(function string) (key string, tasks []string, err error) {
	if err := c.given(1); err != nil {
		return "", nil, err
	}
	for _, d := range c.args[1].(*value.Array).Elems {
		switch id := d.(type) {
		case nil:
			return "", nil, c.null(1)
		case int64:
			tasks = append(tasks, strconv.FormatInt(id, 10))
		case string:
			if err := semaphores.CheckTask(id); err != nil {
				return "", nil, c.Failed(err)
			}
			tasks = append(tasks, id)
		}
	}
	key, err = c.beginKey(function)
	return key, tasks, err
}
