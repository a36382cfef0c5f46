package semaphoresql

import (
	"iter"
	"strconv"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

// taskTable is markup.semaphore_task, which lists the tasks of the semaphores that the user may
// look at. It shows the committed state and reads it page by page.
type taskTable struct{ s *mbus.Session }

var (
	_ schema.Searcher = (*taskTable)(nil)
	_ schema.Hinted   = (*taskTable)(nil)
)

// Columns of markup.semaphore_task that are used for lookups.
const (
	colSemaphoreID = 0
	colTaskID      = 1
	colStatus      = 3
	colTask        = 5
)

func taskRow(id uint64, st semaphores.State) []value.Datum {
	row := []value.Datum{
		int64(id), nil, st.Priority, st.Status.String(), instant(st.Enqueued), st.ID, int64(st.Position), intervalOf(st.Lease), nil,
	}
	if n, err := strconv.ParseInt(st.ID, 10, 64); err == nil && strconv.FormatInt(n, 10) == st.ID {
		row[colTaskID] = n
	}
	if st.Until > 0 && st.Status != semaphore.Wait {
		row[len(row)-1] = instant(st.Until * 1000)
	}
	return row
}

func (t *taskTable) OID() uint32            { return value.RelSemaphoreTask }
func (t *taskTable) Name() string           { return value.SemaphoreTask.Name }
func (t *taskTable) Kind() byte             { return 'v' }
func (t *taskTable) Columns() []value.Field { return value.SemaphoreTask.Fields }

// Hint returns the function to call instead of a command.
func (t *taskTable) Hint(command string) string {
	if command == "DELETE" {
		return "Call semaphore.release(key, task)."
	}
	return "Call semaphore.enqueue(key, task, priority), which changes the priority of a task that is there."
}

func (t *taskTable) Scan(env *expr.Env, want []bool) iter.Seq2[[]value.Datum, error] {
	return t.Search(env, want, make([]value.Datum, len(t.Keys())))
}

func (t *taskTable) Keys() []int { return []int{colSemaphoreID, colTaskID, colTask, colStatus} }

func (t *taskTable) SearchedByJoins() bool { return true }

func (t *taskTable) Search(env *expr.Env, _ []bool, by []value.Datum) iter.Seq2[[]value.Datum, error] {
	of := all(env, t.s)
	if by[0] != nil {
		of = found(t.s, by[0], nil)
	}
	task, one := by[2].(string)
	if n, ok := by[1].(int64); ok {
		task, one = strconv.FormatInt(n, 10), true
	}
	return func(yield func([]value.Datum, error) bool) {
		for info, err := range of {
			if err != nil {
				yield(nil, err)
				return
			}
			found := pages(env, t.s, info.Key, only(by[3]))
			if one {
				found = t.one(info.Key, task)
			}
			for st, err := range found {
				if hides(err) {
					break // deleted in the meantime
				}
				if !yield(taskRow(info.ID, st), t.s.Failed(err)) || err != nil {
					return
				}
			}
		}
	}
}

// one returns a single task, if it exists.
func (t *taskTable) one(key, task string) iter.Seq2[semaphores.State, error] {
	return func(yield func(semaphores.State, error) bool) {
		if st, err := stateOf(t.s, key, task); err != nil || st.Found {
			yield(st, err)
		}
	}
}
