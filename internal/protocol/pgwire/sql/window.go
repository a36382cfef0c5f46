package sql

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways/internal/protocol/pgwire/sql/expr"
)

// window is one call of a window function.
type window struct{}

func (l *level) window(call *pg.FuncCall, fn *expr.Function, args []expr.Expr) (expr.Expr, error) {
	return nil, unsupported("a window function").At(l.p.text, call.Location)
}
