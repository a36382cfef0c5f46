package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
)

// mergedGate is a gate in a subquery or at a join whose rows are required for any result of the
// query. PostgreSQL merges such parts into one query, so the gate is evaluated before any of them
// is read. The query keeps the results of the gate's subqueries, so that they do not run again at
// the gate's own place.
type mergedGate struct {
	cond   expr.Expr
	inside []*frame // of the enclosing subqueries, outermost first
}

func (g *mergedGate) holds(env *expr.Env) (bool, error) {
	around := env.Rows
	defer func() { env.Rows = around }()
	for _, f := range g.inside {
		_, _, env.Rows = f.push(env)
	}
	return expr.Holds(g.cond, env)
}

// merge collects the merged gates of a query that is otherwise planned, and the parts that are
// computed only once.
func (q *selectQuery) merge() {
	m := &merger{root: q}
	m.where(q)
	q.from = m.source(q.from)
}

// merger visits the parts of root that PostgreSQL would merge with it.
type merger struct {
	root   *selectQuery
	inside []*frame
	outer  bool // root has rows without the current part: its gates affect nothing else
}

func (m *merger) where(q *selectQuery) {
	for _, cond := range q.where {
		if s, ok := cond.(*sublink); ok && s.merges() {
			m.query(s.q)
		} else if s, ok := expr.Negated(cond).(*sublink); ok && s.kind == pg.SubLinkType_EXISTS_SUBLINK {
			m.optional(func() { m.query(s.q) })
		}
	}
}

// merges reports whether PostgreSQL converts the subquery to a join. It does not convert an IN that
// depends on the current row.
func (s *sublink) merges() bool {
	return s.kind == pg.SubLinkType_EXISTS_SUBLINK || s.kind == pg.SubLinkType_ANY_SUBLINK && s.memo >= 0
}

// optional visits a part that is not required for a result.
func (m *merger) optional(walk func()) {
	outer := m.outer
	m.outer = true
	walk()
	m.outer = outer
}

func (m *merger) source(in source) source {
	switch s := in.(type) {
	case *filter:
		s.in = m.source(s.in)
	case *queryScan:
		m.query(s.q)
		if len(m.inside) > 0 && s.free && volatileOutput(s.q) {
			return &keptScan{source: s, from: s.base, to: s.base + len(s.q.columns()), up: len(m.inside), memo: m.root.l.memo()}
		}
	case *keptScan:
		if inner, ok := s.source.(*queryScan); ok {
			return m.source(inner)
		}
	case *join:
		m.join(s)
	}
	return in
}

func (m *merger) join(j *join) {
	left, right := func() { j.left = m.source(j.left) }, func() { j.right = m.source(j.right) }
	switch j.kind {
	case pg.JoinType_JOIN_INNER:
		m.add(j.gates)
		left()
		right()
	case pg.JoinType_JOIN_LEFT:
		left()
		m.optional(right)
	case pg.JoinType_JOIN_RIGHT:
		m.optional(left)
		right()
	}
}

// query visits a subquery that PostgreSQL would merge with the enclosing query.
func (m *merger) query(in query) {
	q, ok := in.(*selectQuery)
	if !ok || q.group != nil || q.distinct || q.limits != (exec.Limits{}) || len(q.windows)+len(q.sets)+len(q.on)+len(q.order) > 0 {
		return
	}
	m.inside = append(m.inside, q.l.frame)
	m.add(q.gates)
	m.where(q)
	q.from = m.source(q.from)
	m.inside = m.inside[:len(m.inside)-1]
}

// add adds the gates that have no references outside of root.
func (m *merger) add(gates []expr.Expr) {
	if m.outer {
		return
	}
	for _, cond := range gates {
		if len(m.inside) > 0 {
			if looksOut(cond) {
				continue
			}
			m.keepSublinks(cond)
		}
		m.root.merged = append(m.root.merged, mergedGate{cond, slices.Clone(m.inside)})
	}
}

// keepSublinks makes root keep the results of a gate's subqueries.
func (m *merger) keepSublinks(gate expr.Expr) {
	expr.Walk(gate, func(e expr.Expr) bool {
		if s, ok := e.(*sublink); ok {
			s.up, s.memo = len(m.inside), m.root.l.memo()
		}
		return true
	})
}

// looksOut reports whether an expression, or a subquery in it, reads a row of any level.
func looksOut(e expr.Expr) bool {
	out := false
	expr.Walk(e, func(e expr.Expr) bool {
		switch n := e.(type) {
		case *slotRef, *wholeRow:
			out = true
		case *sublink:
			out = out || n.memo < 0 || slices.ContainsFunc(n.left, func(e expr.Expr) bool { return looksOut(e) || hasSublink(e) })
		}
		return !out
	})
	return out
}

func hasSublink(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		_, is := e.(*sublink)
		found = found || is
		return !found
	})
	return found
}
