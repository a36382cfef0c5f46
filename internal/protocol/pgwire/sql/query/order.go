package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func newSortKey(e expr.Expr, n *pg.SortBy) exec.SortKey {
	k := exec.SortKey{Expr: e, Type: e.Type(), Descending: n.SortbyDir == pg.SortByDir_SORTBY_DESC}
	if n.SortbyDir == pg.SortByDir_SORTBY_USING {
		k.Descending = tree.LastName(n.UseOp) == ">"
	}
	k.NullsFirst = k.Descending
	switch n.SortbyNulls {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		k.NullsFirst = true
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		k.NullsFirst = false
	}
	return k
}

// orderKeys returns the sort keys of a query whose ORDER BY may name only columns of its result.
func (l *level) orderKeys(list []*pg.Node, cols []value.Field) ([]exec.SortKey, error) {
	var keys []exec.SortKey
	for _, n := range list {
		sort := n.GetSortBy()
		i, err := l.resultColumn(sort.Node, cols, "ORDER BY", func(int, int) bool { return false })
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return nil, pgerror.New(pgerror.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
				WithDetail("Only result column names can be used, not expressions or functions.").At(l.p.Text, expr.Location(sort.Node))
		}
		k := newSortKey(&slotRef{slot: i, typ: cols[i].Type}, sort)
		keys = append(keys, k)
	}
	return keys, nil
}

// resultColumn finds the column of the result that an item of ORDER BY or GROUP BY means by its
// place or its name; -1: none. A name may stand for several columns that are the same.
func (l *level) resultColumn(n *pg.Node, cols []value.Field, clause string, same func(i, j int) bool) (int, error) {
	if c := n.GetAConst(); c != nil && !c.Isnull {
		if c.GetIval() == nil {
			return -1, l.error(pgerror.SyntaxError, expr.Location(n), "non-integer constant in %s", clause)
		}
		i := int(c.GetIval().Ival)
		if i < 1 || i > len(cols) {
			return -1, l.error("42P10", expr.Location(n), "%s position %d is not in select list", clause, i)
		}
		return i - 1, nil
	}
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) != 1 {
		return -1, nil
	}
	name, found := ref.Fields[0].GetString_().GetSval(), -1
	for i, c := range cols {
		switch {
		case c.Name != name:
		case found < 0:
			found = i
		case !same(found, i):
			return -1, l.error(pgerror.AmbiguousColumn, expr.Location(n), `%s "%s" is ambiguous`, clause, name)
		}
	}
	return found, nil
}

// sorted is a query with ORDER BY and LIMIT.
type sorted struct {
	pending
	keys   []exec.SortKey // over the row of the query
	limits exec.Limits
	frame  *frame
}

// arrange adds ORDER BY and LIMIT to a query that does not handle them.
func (l *level) arrange(q pending, n *pg.SelectStmt) (pending, error) {
	if len(n.SortClause) == 0 && n.LimitCount == nil && n.LimitOffset == nil {
		return q, nil
	}
	keys, err := l.orderKeys(n.SortClause, q.columns())
	if err != nil {
		return nil, err
	}
	m, err := l.limits(n)
	if err != nil {
		return nil, err
	}
	return &sorted{pending: q, keys: keys, limits: m, frame: l.frame}, nil
}

func (s *sorted) run(env *expr.Env, emit func([]value.Datum) error) error {
	_, around, inside := s.frame.push(env)
	env.Rows = inside
	count, err := s.limits.Start(env)
	env.Rows = around
	if err != nil || count.None() {
		return err
	}
	give := func(row []value.Datum) error { return count.Pass(row, emit) }
	if len(s.keys) == 0 {
		return count.Stopped(s.pending.run(env, give))
	}
	rows, err := collect(s.pending, env)
	if err != nil {
		return err
	}
	for i := range s.keys {
		s.keys[i].Type = s.pending.columns()[s.keys[i].Expr.(*slotRef).slot].Type
	}
	if err := exec.Sort(rows, s.keys, func(row []value.Datum) []value.Datum { return pick(row, s.keys) }); err != nil {
		return err
	}
	for _, row := range rows {
		if err := give(row); err != nil {
			return count.Stopped(err)
		}
	}
	return nil
}

func pick(row []value.Datum, keys []exec.SortKey) []value.Datum {
	vals := make([]value.Datum, len(keys))
	for i, k := range keys {
		vals[i] = row[k.Expr.(*slotRef).slot]
	}
	return vals
}
