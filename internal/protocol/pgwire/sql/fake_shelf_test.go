package sql

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// fakeShelf is a relation that looks up rows by id and by name, which are unique, and supports all
// changes. calls counts how it was read.
type fakeShelf struct {
	fakeView
	calls map[string]int
}

func newFakeShelf(calls map[string]int) *fakeShelf {
	return &fakeShelf{fakeView{fakeTable{
		name: "shelf",
		cols: []value.Field{{Name: "id", Type: value.Int8}, {Name: "name", Type: value.Text}, {Name: "status", Type: value.SemaphoreStatus}},
		rows: [][]value.Datum{{int64(1), "ann", "WAIT"}, {int64(2), "bob", "TRY_RELEASE"}, {int64(3), "cid", "ACQUIRED"}},
	}}, calls}
}

func (t *fakeShelf) Scan(env *expr.Env, want []bool) iter.Seq2[[]value.Datum, error] {
	t.calls["scan"]++
	return t.fakeView.Scan(env, want)
}

func (t *fakeShelf) Keys() []int { return []int{0, 1, 2} }

func (t *fakeShelf) Search(_ *expr.Env, _ []bool, by []value.Datum) iter.Seq2[[]value.Datum, error] {
	t.calls[strings.ReplaceAll(fmt.Sprint("search", by), "<nil>", "_")]++
	return func(yield func([]value.Datum, error) bool) {
		for _, r := range t.rows {
			if (by[0] == nil || by[0] == r[0]) && (by[1] == nil || by[1] == r[1]) && !yield(r, nil) {
				return
			}
		}
	}
}

func (t *fakeShelf) SearchedByJoins() bool { return true }

func (t *fakeShelf) Unique() (int, string) { return 1, "ix_shelf" }

func (t *fakeShelf) Same(env *expr.Env, row []value.Datum) ([]value.Datum, error) {
	for _, r := range t.rows {
		if r[1] == row[1] {
			return r, nil
		}
	}
	return nil, nil
}

func (t *fakeShelf) Delete(_ *expr.Env, row []value.Datum) error {
	t.rows = slices.DeleteFunc(t.rows, func(r []value.Datum) bool { return r[0] == row[0] })
	return nil
}

// fakeRiddle is a relation that cannot be changed and suggests an alternative.
type fakeRiddle struct{ fakeTable }

func (*fakeRiddle) Hint(command string) string { return command + " elsewhere." }

// solve returns a function whose result differs before and after the commit.
func solve(w *fakeWork) *expr.Function {
	return &expr.Function{
		Schema: "fake", Name: "solve", Volatility: expr.Volatile, Returns: value.Text, Args: []expr.Arg{{Name: "riddle", Type: value.Text}},
		Call: func(_ *expr.Env, args []value.Datum) (value.Datum, error) {
			w.note("solve %s", args[0])
			return "perhaps", nil
		},
		Later: func(_ *expr.Env, args []value.Datum) (expr.Promise, error) {
			riddle := args[0]
			w.note("solve %s later", riddle)
			return func() value.Datum { return fmt.Sprintf("%s after %s", riddle, w.log[len(w.log)-1]) }, nil
		},
	}
}
