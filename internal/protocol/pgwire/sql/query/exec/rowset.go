package exec

import (
	"iter"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// RowSet is a set-returning function in a select list or, if Expr is set, an expression there whose
// value is used several times.
type RowSet struct {
	Fn    *expr.Function
	Args  []expr.Expr
	Whole bool // the value of the function is the row
	Expr  expr.Expr
	Slot  int
}

// value returns the value of one row of the function in an expression.
func (r *RowSet) value(row []value.Datum) value.Datum {
	if r.Whole {
		return append(value.Record(nil), row...)
	}
	return row[0]
}

// Expand calls emit for each row that the sets produce for the current row. Several sets are read
// in parallel.
func Expand(sets []*RowSet, env *expr.Env, emit func() error) error {
	var inStepSets []*RowSet
	for _, s := range sets {
		if s.Fn != nil {
			inStepSets = append(inStepSets, s)
		}
	}
	row := env.Rows[0]
	values := func() error {
		for _, s := range sets {
			if s.Fn != nil {
				continue
			}
			d, err := s.Expr.Eval(env)
			if err != nil {
				return err
			}
			row[s.Slot] = d
		}
		return emit()
	}
	switch len(inStepSets) {
	case 0:
		return values()
	case 1:
		return inStepSets[0].each(env, values)
	}
	var all []iter.Seq2[[]value.Datum, error]
	for _, s := range inStepSets {
		rows, err := rowsOf(s.Fn, s.Args, env)
		if err != nil {
			return err
		}
		all = append(all, rows)
	}
	return inStep(all, func(rows [][]value.Datum) error {
		for i, s := range inStepSets {
			row[s.Slot] = nil
			if rows[i] != nil {
				row[s.Slot] = s.value(rows[i])
			}
		}
		return values()
	})
}

func (r *RowSet) each(env *expr.Env, emit func() error) error {
	rows, err := rowsOf(r.Fn, r.Args, env)
	if err != nil {
		return err
	}
	return EachRow(env, rows, emit, func(row []value.Datum) { env.Rows[0][r.Slot] = r.value(row) })
}
