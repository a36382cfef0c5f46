package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
)

// mergedGate is a gate that stands in a sub-select, or at a join, without whose rows the query has
// none. PostgreSQL makes them one query, so it is asked before any part of that is read. What its
// sub-selects find is kept by the query: they are not run again when the gate's own place is
// reached.
type mergedGate struct {
	cond   expr.Expr
	inside []*frame // of the sub-selects that it stands in, the outermost first
}

func (g *mergedGate) holds(env *expr.Env) (bool, error) {
	around := env.Rows
	defer func() { env.Rows = around }()
	for _, f := range g.inside {
		_, _, env.Rows = f.push(env)
	}
	return holds(g.cond, env)
}

// merge finds the merged gates of a query that is planned but for this, and what of its parts is
// worked out only once.
func (q *selectQuery) merge() {
	m := &merger{root: q}
	m.where(q)
	q.from = m.source(q.from)
}

// merger walks over those parts of root that PostgreSQL would make one query with it.
type merger struct {
	root   *selectQuery
	inside []*frame
	outer  bool // root has rows without the part at hand: gates of it close nothing else
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

// merges tells of a sub-select that PostgreSQL makes a join. An IN that depends on the row at hand
// is none.
func (s *sublink) merges() bool {
	return s.kind == pg.SubLinkType_EXISTS_SUBLINK || s.kind == pg.SubLinkType_ANY_SUBLINK && s.memo >= 0
}

// optional walks over a part without which there may be rows.
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

// query looks into a sub-select that PostgreSQL would make a part of the query around it.
func (m *merger) query(in query) {
	q, ok := in.(*selectQuery)
	if !ok || q.group != nil || q.distinct || q.limits != (limits{}) || len(q.windows)+len(q.sets)+len(q.on)+len(q.order) > 0 {
		return
	}
	m.inside = append(m.inside, q.l.frame)
	m.add(q.gates)
	m.where(q)
	q.from = m.source(q.from)
	m.inside = m.inside[:len(m.inside)-1]
}

// add takes those gates that look at no row outside of root.
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

// keepSublinks has root keep what the sub-selects of a gate find.
func (m *merger) keepSublinks(gate expr.Expr) {
	expr.Walk(gate, func(e expr.Expr) bool {
		if s, ok := e.(*sublink); ok {
			s.up, s.memo = len(m.inside), m.root.l.memo()
		}
		return true
	})
}

// looksOut reports whether an expression looks at a row of any level, or has a sub-select that
// does.
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
