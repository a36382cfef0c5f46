package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// rowSet is the RowSet hook of the compiler.
func (l *level) rowSet(call *pg.FuncCall, fn *expr.Function, args []expr.Expr) (expr.Expr, error) {
	if !l.clause.sets {
		return nil, l.error(pgerror.FeatureNotSupported, call.Location, "set-returning functions are not allowed in %s", l.clause.name)
	}
	typ := setType(fn)
	set := &exec.RowSet{Fn: fn, Args: args, Whole: len(typ.Fields) > 0, Slot: l.slot(1)}
	l.sets = append(l.sets, set)
	return &slotRef{slot: set.Slot, typ: typ}, nil
}

// setType returns the type of a set-returning function's value in an expression.
func setType(fn *expr.Function) *value.Type {
	switch {
	case len(fn.Columns) == 1:
		return fn.Columns[0].Type
	case len(fn.Columns) > 1:
		return value.RowType(fn.Columns)
	}
	return fn.Returns
}

// once stores the value of an expression in a slot, so that it is computed once a row.
func (l *level) once(e expr.Expr) expr.Expr {
	if r, ok := e.(*slotRef); ok {
		return r
	}
	set := &exec.RowSet{Expr: e, Slot: l.slot(1)}
	l.sets = append(l.sets, set)
	return &slotRef{slot: set.Slot, typ: e.Type()}
}
