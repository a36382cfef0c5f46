package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// cardinality is the SQLSTATE of a subquery with too many rows.
const cardinality = "21000"

// sublink is a subquery in an expression. A subquery that does not depend on the enclosing
// statement runs once for each run of that statement.
type sublink struct {
	kind pg.SubLinkType
	q    query
	typ  *value.Type
	memo int // of its result or rows; -1: it depends on the current row
	up   int // number of levels out to the level with the memo

	left  []expr.Expr // of ANY and ALL: the values to compare with each row
	match expr.Expr   // in a level of its own, whose row has the left values, then those of the subquery
	key   *value.Type // of x IN (SELECT ...) whose rows can be looked up; otherwise nil
}

func (l *level) sublink(n *pg.SubLink) (expr.Expr, error) {
	if l.clause.alone != "" {
		return nil, l.error(pgerror.FeatureNotSupported, n.Location, "cannot use subquery in %s", l.clause.alone)
	}
	q, free, err := l.freeQuery(n.Subselect.GetSelectStmt())
	if err != nil {
		return nil, err
	}
	s := &sublink{kind: n.SubLinkType, q: q, typ: value.Bool, memo: -1}
	if free {
		s.memo = l.memo()
	}
	cols := q.columns()
	switch n.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		s.q = bare(q)
		return s, nil
	case pg.SubLinkType_EXPR_SUBLINK, pg.SubLinkType_ARRAY_SUBLINK:
		if len(cols) != 1 {
			return nil, l.error(pgerror.SyntaxError, n.Location, "subquery must return only one column")
		}
		s.typ = cols[0].Type
		if n.SubLinkType == pg.SubLinkType_ARRAY_SUBLINK {
			if s.typ = value.ArrayOf(cols[0].Type); s.typ == nil {
				return nil, l.error(pgerror.UndefinedObject, n.Location, "could not find array type for data type %s", cols[0].Type)
			}
		}
		return s, nil
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		return s, l.subCompare(s, n)
	}
	return nil, pgerror.Unsupported("this kind of sub-select").At(l.p.Text, n.Location)
}

// bare returns the query of an EXISTS without the parts that do not affect whether it has rows,
// columns and order, so that they are not computed.
func bare(in query) query {
	q, ok := in.(*selectQuery)
	if !ok || q.group != nil || len(q.windows)+len(q.sets) > 0 || q.limits.Offset != nil {
		return in
	}
	made := *q
	if limit, ok := q.limits.Limit.(*expr.Const); ok {
		if n, ok := limit.Value.(int64); !ok || n <= 0 {
			return in
		}
		made.limits.Limit = nil
	} else if q.limits.Limit != nil {
		return in
	}
	made.out, made.cols, made.before, made.distinct, made.on, made.order = nil, nil, nil, false, nil, nil
	return &made
}

// subCompare plans the comparison of x IN (SELECT ...), x op ANY (SELECT ...) and x op ALL (SELECT
// ...).
func (l *level) subCompare(s *sublink, n *pg.SubLink) error {
	left := []*pg.Node{n.Testexpr}
	if row := n.Testexpr.GetRowExpr(); row != nil {
		left = row.Args
	}
	cols := s.q.columns()
	switch {
	case len(left) < len(cols):
		return l.error(pgerror.SyntaxError, n.Location, "subquery has too many columns")
	case len(left) > len(cols):
		return l.error(pgerror.SyntaxError, n.Location, "subquery has too few columns")
	}
	op := "="
	if len(n.OperName) > 0 {
		op = tree.LastName(n.OperName)
	}
	if len(left) > 1 && op != "=" {
		return pgerror.Unsupported("a row comparison with a sub-select, but for =,").At(l.p.Text, n.Location)
	}
	var parts []expr.Expr
	for i, node := range left {
		e, err := l.compiler().Compile(node)
		if err == nil && e.Type() == value.Unknown {
			e, err = l.compiler().Assign(e, cols[i].Type, -1, cols[i].Name, expr.Location(node))
		}
		if err != nil {
			return err
		}
		s.left = append(s.left, e)
		part, err := l.compiler().Operate(op, &slotRef{slot: i, typ: e.Type()}, &slotRef{slot: len(left) + i, typ: cols[i].Type}, n.Location)
		if err != nil {
			return err
		}
		if part.Type() != value.Bool {
			return l.error(pgerror.DatatypeMismatch, n.Location, "row comparison operator must yield type boolean, not type %s", part.Type())
		}
		parts = append(parts, part)
	}
	s.match = expr.And(parts...)
	if s.kind == pg.SubLinkType_ANY_SUBLINK && op == "=" && len(left) == 1 && s.memo >= 0 {
		s.key = keyType(s.left[0].Type(), cols[0].Type)
	}
	return nil
}

func (s *sublink) Type() *value.Type { return s.typ }

// Typmod returns the typmod of the only column of a scalar subquery, -1 for none.
func (s *sublink) Typmod() int32 {
	if s.kind != pg.SubLinkType_EXPR_SUBLINK {
		return -1
	}
	return s.q.columns()[0].Mod - 1
}

// Volatility prevents constant folding.
func (s *sublink) Volatility() expr.Volatility { return expr.Volatile }

func (s *sublink) Eval(env *expr.Env) (value.Datum, error) {
	switch {
	case s.key != nil:
		return s.lookUp(env)
	case s.match != nil:
		return s.compareRows(env)
	}
	if s.memo < 0 {
		return s.result(env)
	}
	m := memoOf(env, s.up, s.memo)
	if m.done {
		return m.d, nil
	}
	d, err := s.result(env)
	if err == nil {
		m.done, m.d = true, d
	}
	return d, err
}

// result runs EXISTS, a scalar subquery or ARRAY.
func (s *sublink) result(env *expr.Env) (value.Datum, error) {
	n := 0
	var found value.Datum
	var elems []value.Datum
	err := s.q.run(env, func(row []value.Datum) error {
		n++
		switch {
		case s.kind == pg.SubLinkType_EXISTS_SUBLINK:
			return exec.ErrStop
		case s.kind == pg.SubLinkType_ARRAY_SUBLINK:
			elems = append(elems, row[0])
		case n > 1:
			return pgerror.New(cardinality, "more than one row returned by a subquery used as an expression")
		default:
			found = row[0]
		}
		return nil
	})
	switch {
	case s.kind == pg.SubLinkType_EXISTS_SUBLINK && (err == exec.ErrStop || err == nil):
		return n > 0, nil
	case err != nil:
		return nil, err
	case s.kind == pg.SubLinkType_ARRAY_SUBLINK:
		return value.NewArray(s.typ.Elem, elems), nil
	}
	return found, nil
}

// compareRows evaluates ANY (including IN) and ALL.
func (s *sublink) compareRows(env *expr.Env) (value.Datum, error) {
	n := len(s.left)
	pair, around, inside := (&frame{width: n + len(s.q.columns())}).push(env)
	for i, e := range s.left {
		var err error
		if pair[i], err = e.Eval(env); err != nil {
			return nil, err
		}
	}
	answer := s.kind == pg.SubLinkType_ANY_SUBLINK // the result that a single row can decide
	unknown, decided := false, false
	try := func(row []value.Datum) error {
		copy(pair[n:], row)
		env.Rows = inside
		d, err := s.match.Eval(env)
		env.Rows = around
		if err != nil {
			return err
		}
		unknown = unknown || d == nil
		if d == answer {
			decided = true
			return exec.ErrStop
		}
		return nil
	}
	if err := s.each(env, try); err != nil && err != exec.ErrStop {
		return nil, err
	}
	switch {
	case decided:
		return answer, nil
	case unknown:
		return nil, nil
	}
	return !answer, nil
}

// lookUp evaluates x IN (SELECT ...) without comparing x with each row.
func (s *sublink) lookUp(env *expr.Env) (value.Datum, error) {
	x, err := s.left[0].Eval(env)
	if err != nil {
		return nil, err
	}
	m, err := s.keep(env)
	if err == nil && m.index == nil {
		m.index, err = exec.NewIndex(s.key, m.rows, &m.heap)
	}
	if err != nil {
		return nil, err
	}
	return m.index.In(x), nil
}

// each passes the rows of the subquery to try. Rows that do not depend on the current row are kept.
func (s *sublink) each(env *expr.Env, try func(row []value.Datum) error) error {
	if s.memo < 0 {
		return s.q.run(env, try)
	}
	m, err := s.keep(env)
	if err != nil {
		return err
	}
	for _, r := range m.rows {
		if err := try(r); err != nil {
			return err
		}
	}
	return nil
}

// keep returns the rows of a subquery that does not depend on the current row.
func (s *sublink) keep(env *expr.Env) (*memo, error) {
	m := memoOf(env, s.up, s.memo)
	if m.done {
		return m, nil
	}
	rows, err := collect(s.q, env)
	if err != nil {
		return nil, err
	}
	m.done, m.rows = true, rows
	return m, nil
}
