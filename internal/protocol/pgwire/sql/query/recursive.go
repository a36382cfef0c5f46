package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// recursiveQuery is a query of WITH RECURSIVE. It returns the rows of its left side, then
// repeatedly those that its right side computes from the rows of the previous round, until there
// are none. While it runs, its own name refers to the rows of the previous round.
type recursiveQuery struct {
	setQuery // for the columns and their keys
	c        *cte
}

// recursive plans a query of the form first UNION next.
func (l *level) recursive(item *pg.CommonTableExpr) (*cte, error) {
	sel := item.Ctequery.GetSelectStmt()
	if sel == nil || sel.Op != pg.SetOperation_SETOP_UNION {
		return nil, l.error("42P19", item.Location,
			`recursive query "%s" does not have the form non-recursive-term UNION [ALL] recursive-term`, item.Ctename)
	}
	if len(sel.SortClause) > 0 || sel.LimitCount != nil || sel.LimitOffset != nil || sel.WithClause != nil {
		return nil, pgerror.Unsupported("ORDER BY, LIMIT or WITH in a recursive query").At(l.p.Text, item.Location)
	}
	inner := l.p.level(l)
	first, err := l.p.query(sel.Larg, inner)
	if err != nil {
		return nil, err
	}
	cols := slices.Clone(first.columns())
	for i := range cols {
		cols[i].Mod, cols[i].Origin = 0, value.Origin{} // later rows need not have them
	}
	q := &recursiveQuery{setQuery: setQuery{op: sel.Op, all: sel.All, cols: cols, frame: inner.frame}}
	q.c = &cte{name: item.Ctename, q: q, memo: l.memo()}
	if err := l.nameColumns(q.c, item); err != nil {
		return nil, err
	}
	l.ctes = append(l.ctes, q.c)
	next, err := l.p.pendingQuery(sel.Rarg, inner)
	l.ctes, q.c.refs = l.ctes[:len(l.ctes)-1], 0
	if err != nil {
		return nil, err
	}
	if len(next.columns()) != len(q.cols) {
		return nil, l.error(pgerror.SyntaxError, firstTarget(sel.Rarg), "each UNION query must have the same number of columns")
	}
	for i, c := range next.columns() {
		if c.Type == q.cols[i].Type {
			continue
		}
		_, t, err := l.compiler().CommonType("UNION", []expr.Expr{standIn(i, q.cols[i].Type), standIn(i, c.Type)}, []int32{-1, firstTarget(sel.Rarg)})
		if err != nil {
			return nil, err
		}
		if t != q.cols[i].Type {
			return nil, l.error(pgerror.DatatypeMismatch, firstTarget(sel.Larg),
				`recursive query "%s" column %d has type %s in non-recursive term but type %s overall`, item.Ctename, i+1, q.cols[i].Type, t).
				WithHint("Cast the output of the non-recursive term to the correct type.")
		}
		if err := next.convert(i, t); err != nil {
			return nil, err
		}
	}
	q.left, q.right = settled{first}, next
	return q.c, nil
}

// settled is a query whose column types are final.
type settled struct{ query }

func (settled) convert(int, *value.Type) error {
	return pgerror.New(pgerror.InternalError, "the columns of a query have their types already")
}

func (q *recursiveQuery) run(env *expr.Env, emit func([]value.Datum) error) error {
	m := memoOf(env, 0, q.c.memo)
	_, around, inside := q.frame.push(env)
	defer func() { env.Rows, m.working, m.rows = around, false, nil }()
	var fresh [][]value.Datum
	take := func(row []value.Datum) error {
		fresh = append(fresh, row)
		return emit(row)
	}
	if !q.all {
		take = exec.Distinct(q.cols, take)
	}
	for round := query(q.left); ; round = q.right {
		env.Rows = inside
		rows, err := collect(round, env)
		env.Rows = around
		if err != nil {
			return err
		}
		fresh = rows[:0]
		for _, row := range rows {
			if err := take(row); err != nil {
				return err
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		m.working, m.rows = true, fresh
	}
}
