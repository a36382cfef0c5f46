package query

import (
	"iter"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// rowSet is a set-returning function in a select list or, if e is set, an expression there whose
// value is used several times.
type rowSet struct {
	fn   *expr.Function
	args []expr.Expr
	e    expr.Expr
	slot int
}

// rowSet is the RowSet hook of the compiler.
func (l *level) rowSet(call *pg.FuncCall, fn *expr.Function, args []expr.Expr) (expr.Expr, error) {
	if !l.clause.sets {
		return nil, l.error(pgerror.FeatureNotSupported, call.Location, "set-returning functions are not allowed in %s", l.clause.name)
	}
	set := &rowSet{fn: fn, args: args, slot: l.slot(1)}
	l.sets = append(l.sets, set)
	return &slotRef{slot: set.slot, typ: setType(fn)}, nil
}

// setType returns the type of a set-returning function's value in an expression.
func setType(fn *expr.Function) *value.Type {
	switch {
	case len(fn.Columns) == 1:
		return fn.Columns[0].Type
	case len(fn.Columns) > 1:
		return rowType(fn.Columns)
	}
	return fn.Returns
}

// once stores the value of an expression in a slot, so that it is computed once a row.
func (l *level) once(e expr.Expr) expr.Expr {
	if r, ok := e.(*slotRef); ok {
		return r
	}
	set := &rowSet{e: e, slot: l.slot(1)}
	l.sets = append(l.sets, set)
	return &slotRef{slot: set.slot, typ: e.Type()}
}

// value returns the value of one row of the function in an expression.
func (r *rowSet) value(row []value.Datum) value.Datum {
	if len(setType(r.fn).Fields) > 0 {
		return append(value.Record(nil), row...)
	}
	return row[0]
}

// rows returns the rows of the function for the current row.
func (r *rowSet) rows(env *expr.Env) (iter.Seq2[[]value.Datum, error], error) {
	args, none, err := arguments(r.fn, r.args, env)
	if err != nil {
		return nil, err
	}
	if none {
		return func(func([]value.Datum, error) bool) {}, nil
	}
	return r.fn.Rows(env, args), nil
}

// expand calls emit for each row that the sets produce for the current row. Several sets are read
// in parallel.
func expand(sets []*rowSet, env *expr.Env, emit func() error) error {
	var inStepSets []*rowSet
	for _, s := range sets {
		if s.fn != nil {
			inStepSets = append(inStepSets, s)
		}
	}
	row := env.Rows[0]
	values := func() error {
		for _, s := range sets {
			if s.fn != nil {
				continue
			}
			d, err := s.e.Eval(env)
			if err != nil {
				return err
			}
			row[s.slot] = d
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
		rows, err := s.rows(env)
		if err != nil {
			return err
		}
		all = append(all, rows)
	}
	return inStep(all, func(rows [][]value.Datum) error {
		for i, s := range inStepSets {
			row[s.slot] = nil
			if rows[i] != nil {
				row[s.slot] = s.value(rows[i])
			}
		}
		return values()
	})
}

func (r *rowSet) each(env *expr.Env, emit func() error) error {
	rows, err := r.rows(env)
	if err != nil {
		return err
	}
	return eachRow(env, rows, emit, func(row []value.Datum) { env.Rows[0][r.slot] = r.value(row) })
}
