package semaphoresql

import (
	"errors"
	"iter"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

// semaphoreTable is markup.semaphore, which lists the semaphores that the user may look at.
type semaphoreTable struct{ s *mbus.Session }

var (
	_ schema.Inserter = (*semaphoreTable)(nil)
	_ schema.Updater  = (*semaphoreTable)(nil)
	_ schema.Deleter  = (*semaphoreTable)(nil)
	_ schema.Unique   = (*semaphoreTable)(nil)
	_ schema.Searcher = (*semaphoreTable)(nil)
)

// Columns of markup.semaphore. From colActive to colLease are the settings.
const (
	colID = iota
	colKey
	colActive
	colTryRelease
	colAscending
	colLease
	colWaiting
	semaphoreColumns = 10
)

// uniqueIndex is the index of the keys, as in the original schema.
const uniqueIndex = "ix_semaphore"

func semaphoreRow(info semaphores.Info) []value.Datum {
	return []value.Datum{
		int64(info.ID), info.Key, int64(info.Config.Active), int64(info.Config.TryRelease), info.Config.Ascending, intervalOf(info.Config.Lease),
		int64(info.Waiting), int64(info.Acquired), int64(info.TryRelease), instant(info.Created * 1000),
	}
}

func (t *semaphoreTable) OID() uint32            { return value.RelSemaphore }
func (t *semaphoreTable) Name() string           { return value.Semaphore.Name }
func (t *semaphoreTable) Kind() byte             { return 'v' }
func (t *semaphoreTable) Columns() []value.Field { return value.Semaphore.Fields }

// listed is the page size for listing semaphores.
const listed = 512

// all returns the semaphores that the user may look at, in key order.
func all(env *expr.Env, s *mbus.Session) iter.Seq2[semaphores.Info, error] {
	return func(yield func(semaphores.Info, error) bool) {
		for after, more := "", true; more; {
			var page []semaphores.Info
			page, after = s.Semaphores().List(s.Engine(), "", after, listed)
			if err := env.Ctx.Err(); err != nil {
				yield(semaphores.Info{}, err)
				return
			}
			for _, info := range page {
				if info, there := seen(s, info); there && !yield(info, nil) {
					return
				}
			}
			more = after != ""
		}
	}
}

func (t *semaphoreTable) Scan(env *expr.Env, _ []bool) iter.Seq2[[]value.Datum, error] {
	return rowsOf(all(env, t.s))
}

func rowsOf(infos iter.Seq2[semaphores.Info, error]) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		for info, err := range infos {
			if !yield(semaphoreRow(info), err) {
				return
			}
		}
	}
}

func (t *semaphoreTable) Keys() []int { return []int{colID, colKey} }

func (t *semaphoreTable) SearchedByJoins() bool { return true }

func (t *semaphoreTable) Search(_ *expr.Env, _ []bool, by []value.Datum) iter.Seq2[[]value.Datum, error] {
	return rowsOf(found(t.s, by[0], by[1]))
}

// found returns the semaphore with the given id or key, if it exists. A NULL is ignored.
func found(s *mbus.Session, id, key value.Datum) iter.Seq2[semaphores.Info, error] {
	return func(yield func(semaphores.Info, error) bool) {
		var info semaphores.Info
		if n, ok := id.(int64); ok {
			if info, ok = s.Semaphores().ByID(s.Engine(), uint64(n)); !ok {
				return
			}
			if info, ok = seen(s, info); !ok {
				return
			}
			yield(info, nil) // if its key differs, the caller's condition rejects the row
			return
		}
		info, err := look(s, key.(string))
		if !hides(err) {
			yield(info, s.Failed(err))
		}
	}
}

// hides reports whether an error means that the row is not visible.
func hides(err error) bool {
	return errors.Is(err, semaphores.ErrNotFound) || errors.Is(err, failure.ErrAccessRefused) || errors.Is(err, semaphores.ErrDeleted)
}

// Insert creates a semaphore.
func (t *semaphoreTable) Insert(_ *expr.Env, row []value.Datum, set []bool) ([]value.Datum, error) {
	for i, f := range t.Columns() {
		required := i == colKey || set[i] && i >= colActive && i < colLease
		switch {
		case set[i] && (i == colID || i >= colWaiting):
			return nil, pgerror.New("428C9", `cannot insert a non-DEFAULT value into column "%s"`, f.Name).
				WithDetail(`Column "%s" is a generated column.`, f.Name)
		case required && row[i] == nil:
			return nil, t.notNull(f.Name)
		}
	}
	given, err := settings(row[colActive:colWaiting])
	if err != nil {
		return nil, err
	}
	key := row[colKey].(string)
	info, created, err := create(t.s, key, given)
	switch {
	case err != nil:
		return nil, err
	case !created:
		return nil, pgerror.New(pgerror.UniqueViolation, `duplicate key value violates unique constraint "%s"`, uniqueIndex).
			WithDetail("Key (key)=(%s) already exists.", key)
	}
	return semaphoreRow(info), nil
}

func (t *semaphoreTable) notNull(column string) error {
	return pgerror.New(pgerror.NotNullViolation, `null value in column "%s" of relation "%s" violates not-null constraint`, column, t.Name())
}

// Unique returns the key column and its index.
func (t *semaphoreTable) Unique() (column int, constraint string) { return colKey, uniqueIndex }

// Same returns the existing semaphore with the key of row.
func (t *semaphoreTable) Same(env *expr.Env, row []value.Datum) ([]value.Datum, error) {
	if row[colKey] == nil {
		return nil, nil
	}
	for same, err := range t.Search(env, nil, []value.Datum{nil, row[colKey]}) {
		return same, err
	}
	return nil, nil
}

// Update changes the settings of a semaphore when the transaction commits.
func (t *semaphoreTable) Update(_ *expr.Env, row, changed []value.Datum) error {
	set := make([]value.Datum, colWaiting-colActive)
	for i, f := range t.Columns() {
		if same(f.Type, row[i], changed[i]) {
			continue
		}
		switch {
		case i < colActive || i >= colWaiting:
			return pgerror.New(pgerror.FeatureNotSupported, `cannot update column "%s" of view "%s"`, f.Name, t.Name()).
				WithHint("active, try_release, ascending and lease can be changed.")
		case i == colLease && changed[i] == nil:
			set[i-colActive] = temporal.Interval{}
			continue
		case changed[i] == nil:
			return t.notNull(f.Name)
		}
		set[i-colActive] = changed[i]
	}
	given, err := settings(set)
	if err != nil {
		return err
	}
	key := row[colKey].(string)
	if err := may(t.s, toConfigure, key); err != nil {
		return err
	}
	t.s.Change(&semaphores.Update{Of: semaphores.Of{Key: key}, Settings: given})
	return nil
}

// same reports whether two values are equal or both NULL.
func same(t *value.Type, a, b value.Datum) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	equal, err := value.Equal(t, a, b)
	return equal && err == nil
}

// Delete deletes a semaphore when the transaction commits. The semaphore must not have tasks.
func (t *semaphoreTable) Delete(_ *expr.Env, row []value.Datum) error {
	key := row[colKey].(string)
	if err := may(t.s, toConfigure, key); err != nil {
		return err
	}
	t.s.Change(&semaphores.Delete{Of: semaphores.Of{Key: key}, IfEmpty: true})
	return nil
}
