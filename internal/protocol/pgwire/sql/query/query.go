package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// query produces rows: a SELECT or a similar construct. It holds no state of a run.
type query interface {
	columns() []value.Field
	// run passes the rows to emit one by one, each valid until emit returns. An error of emit ends
	// the run and is returned. env.Rows are those of the enclosing statement.
	run(env *expr.Env, emit func(row []value.Datum) error) error
	// none reports whether constants and parameters alone make it empty, so that what it is joined
	// to need not be read.
	none(env *expr.Env) bool
}

// pending is a query whose columns may still have type unknown, until the context decides.
type pending interface {
	query
	// convert converts column i to type t.
	convert(i int, t *value.Type) error
}

// query plans a SELECT, VALUES or set operation, in a level or stand-alone. All columns of the
// result have types.
func (p *Planner) query(n *pg.SelectStmt, parent *level) (query, error) {
	q, err := p.pendingQuery(n, parent)
	if err != nil {
		return nil, err
	}
	for i, c := range q.columns() {
		if c.Type == value.Unknown {
			if err := q.convert(i, value.Text); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

// freeQuery plans a query in l and reports whether it has no outer references.
func (l *level) freeQuery(n *pg.SelectStmt) (q query, free bool, err error) {
	reach := l.p.reach
	l.p.reach = l.depth + 1
	q, err = l.p.query(n, l)
	free = l.p.reach > l.depth
	l.p.reach = min(reach, l.p.reach)
	return q, free, err
}

func (p *Planner) pendingQuery(n *pg.SelectStmt, parent *level) (pending, error) {
	if n == nil {
		return nil, pgerror.Unsupported("a statement that changes data as a sub-select")
	}
	l := p.level(parent)
	if err := l.with(n.WithClause); err != nil {
		return nil, err
	}
	switch {
	case n.Op != pg.SetOperation_SETOP_NONE && n.Op != pg.SetOperation_SET_OPERATION_UNDEFINED:
		return l.setOperation(n)
	case len(n.ValuesLists) > 0:
		return l.values(n)
	}
	return l.selects(n)
}

// limits plans LIMIT and OFFSET.
func (l *level) limits(n *pg.SelectStmt) (m exec.Limits, err error) {
	if n.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		return m, pgerror.Unsupported("WITH TIES")
	}
	if m.Offset, err = l.limitOf(n.LimitOffset, "OFFSET"); err != nil {
		return m, err
	}
	m.Limit, err = l.limitOf(n.LimitCount, "LIMIT")
	return m, err
}

func (l *level) limitOf(n *pg.Node, name string) (expr.Expr, error) {
	if n == nil || n.GetAConst().GetIsnull() {
		return nil, nil
	}
	hidden := l.visible
	l.visible = nil
	defer func() { l.visible = hidden }()
	return l.in(clause{name: name}, func(x *expr.Compiler) (expr.Expr, error) {
		if tree.MentionsColumns(n) && l.parent == nil {
			return nil, pgerror.New("42P10", "argument of %s must not contain variables", name).At(l.p.Text, expr.Location(n))
		}
		return x.CompileInt8(n, name)
	})
}

// collect reads all rows of a query.
func collect(q query, env *expr.Env) ([][]value.Datum, error) {
	var rows [][]value.Datum
	var heap expr.Heap
	err := q.run(env, func(row []value.Datum) error {
		rows = append(rows, append([]value.Datum(nil), row...))
		return heap.Keep(row)
	})
	return rows, err
}
