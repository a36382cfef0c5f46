package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
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

// limits is LIMIT and OFFSET.
type limits struct{ limit, offset expr.Expr }

func (l *level) limits(n *pg.SelectStmt) (m limits, err error) {
	if n.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		return m, pgerror.Unsupported("WITH TIES")
	}
	if m.offset, err = l.limitOf(n.LimitOffset, "OFFSET"); err != nil {
		return m, err
	}
	m.limit, err = l.limitOf(n.LimitCount, "LIMIT")
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

// rowCounter tracks LIMIT and OFFSET.
type rowCounter struct {
	skip, left int64 // left < 0: any number
	ended      bool  // the limit ended the query
}

func (m limits) start(env *expr.Env) (*rowCounter, error) {
	c := &rowCounter{left: -1}
	if m.offset != nil {
		n, null, err := limitValue(m.offset, env)
		switch {
		case err != nil:
			return nil, err
		case !null && n < 0:
			return nil, pgerror.New("2201X", "OFFSET must not be negative")
		}
		c.skip = n
	}
	if m.limit != nil {
		n, null, err := limitValue(m.limit, env)
		switch {
		case err != nil:
			return nil, err
		case !null && n < 0:
			return nil, pgerror.New("2201W", "LIMIT must not be negative")
		case !null:
			c.left = n
		}
	}
	return c, nil
}

func limitValue(e expr.Expr, env *expr.Env) (n int64, null bool, err error) {
	d, err := e.Eval(env)
	n, ok := d.(int64)
	return n, !ok, err
}

// pass emits a row or skips it. It ends the query after the last row.
func (c *rowCounter) pass(row []value.Datum, emit func([]value.Datum) error) error {
	if c.skip > 0 {
		c.skip--
		return nil
	}
	if c.left > 0 {
		c.left--
	}
	if err := emit(row); err != nil {
		return err
	}
	if c.left == 0 {
		c.ended = true
		return errStop
	}
	return nil
}

// stopped converts the end caused by the limit to success. It returns the errStop of an outer query
// unchanged.
func (c *rowCounter) stopped(err error) error {
	if err == errStop && c.ended {
		return nil
	}
	return err
}

// orderKeys returns the sort keys of a query whose ORDER BY may name only columns of its result.
func (l *level) orderKeys(list []*pg.Node, cols []value.Field) ([]sortKey, error) {
	var keys []sortKey
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
	keys   []sortKey // over the row of the query
	limits limits
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
	count, err := s.limits.start(env)
	env.Rows = around
	if err != nil || count.left == 0 {
		return err
	}
	give := func(row []value.Datum) error { return count.pass(row, emit) }
	if len(s.keys) == 0 {
		return count.stopped(s.pending.run(env, give))
	}
	rows, err := collect(s.pending, env)
	if err != nil {
		return err
	}
	for i := range s.keys {
		s.keys[i].typ = s.pending.columns()[s.keys[i].e.(*slotRef).slot].Type
	}
	if err := sortBy(rows, s.keys, func(row []value.Datum) []value.Datum { return pick(row, s.keys) }); err != nil {
		return err
	}
	for _, row := range rows {
		if err := give(row); err != nil {
			return count.stopped(err)
		}
	}
	return nil
}

func pick(row []value.Datum, keys []sortKey) []value.Datum {
	vals := make([]value.Datum, len(keys))
	for i, k := range keys {
		vals[i] = row[k.e.(*slotRef).slot]
	}
	return vals
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
