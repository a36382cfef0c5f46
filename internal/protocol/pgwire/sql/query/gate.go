package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
)

// A scan may call functions with side effects, such as taking a message. It must therefore not
// start if none of its rows is needed. As in PostgreSQL, there are two cases. A condition that does
// not depend on a row of its query is a gate: it is evaluated once, before the query reads
// anything. And if constants and parameters alone make a part of FROM empty, everything that it is
// joined to is not read either.

// isGate reports whether the last compiled condition depends on no row of the level and calls
// nothing volatile.
func (l *level) isGate(cond expr.Expr) bool {
	return len(l.refs) == 0 && !volatileBesideSublinks(cond)
}

// volatileBesideSublinks reports whether an expression has calls whose results may differ from row
// to row. A subquery without columns of the level is run once.
func volatileBesideSublinks(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		switch n := e.(type) {
		case *sublink:
			found = found || slices.ContainsFunc(n.left, volatileBesideSublinks)
		case expr.Dependent:
			found = found || n.Volatility() == expr.Volatile
		}
		return !found
	})
	return found
}

// havingGate reports whether a HAVING depends on no group, so that it can be evaluated before
// grouping.
func havingGate(cond expr.Expr) bool {
	return rowless(cond, func(s *sublink) bool { return s.memo >= 0 && s.match == nil })
}

// rowless reports whether a condition reads no row of its level, calls nothing volatile, and
// contains only subqueries that admit accepts.
func rowless(cond expr.Expr, admit func(*sublink) bool) bool {
	free := true
	expr.Walk(cond, func(e expr.Expr) bool {
		switch n := e.(type) {
		case *slotRef:
			free = free && n.up > 0
		case *wholeRow:
			free = free && n.up > 0
		case *sublink:
			free = free && admit(n)
		case expr.Dependent:
			free = free && n.Volatility() != expr.Volatile
		}
		return free
	})
	return free
}

// neverHold reports whether constants and parameters alone make one of the conditions false or NULL
// for every row.
func neverHold(conds []expr.Expr, env *expr.Env) bool {
	return slices.ContainsFunc(conds, func(cond expr.Expr) bool {
		d, known := expr.Settled(cond, env)
		return known && d != true
	})
}

// neverMeet is neverHold for conditions that filter rows. There, EXISTS and IN are semi-joins: they
// are false if the subquery is empty.
func neverMeet(conds []expr.Expr, env *expr.Env) bool {
	return neverHold(conds, env) || slices.ContainsFunc(conds, func(cond expr.Expr) bool {
		s, ok := cond.(*sublink)
		return ok && s.joins() && s.q.none(env)
	})
}

// joins reports whether the subquery is true only if it has a row.
func (s *sublink) joins() bool {
	return s.kind == pg.SubLinkType_EXISTS_SUBLINK || s.kind == pg.SubLinkType_ANY_SUBLINK
}

// open reports whether the query must read FROM at all. env.Rows are those of the query.
func (q *selectQuery) open(env *expr.Env) (bool, error) {
	if q.unread(env) {
		return false, nil
	}
	if ok, err := expr.AllHold(q.gates, env); err != nil || !ok {
		return false, err
	}
	for _, gate := range q.merged {
		if ok, err := gate.holds(env); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// unread reports whether constants and parameters alone exclude every row of FROM.
func (q *selectQuery) unread(env *expr.Env) bool {
	return neverMeet(q.gates, env) || neverMeet(q.where, env) || q.from != nil && q.from.none(env)
}

func (q *selectQuery) none(env *expr.Env) bool {
	if q.group != nil && len(q.group.Keys) == 0 { // an empty input is a group too
		return q.group.Having != nil && neverHold([]expr.Expr{q.group.Having}, env)
	}
	return q.unread(env)
}

func (j *join) none(env *expr.Env) bool {
	switch j.kind {
	case pg.JoinType_JOIN_INNER:
		return neverMeet(j.gates, env) || neverMeet(j.On, env) || j.left.none(env) || j.right.none(env)
	case pg.JoinType_JOIN_LEFT:
		return j.left.none(env)
	case pg.JoinType_JOIN_RIGHT:
		return j.right.none(env)
	}
	return j.left.none(env) && j.right.none(env)
}

// lonely reports whether no row of one side of an outer join can match, so that the other side need
// not be read.
func (j *join) lonely(env *expr.Env) bool {
	return (j.kind == pg.JoinType_JOIN_LEFT || j.kind == pg.JoinType_JOIN_RIGHT) && neverHold(j.On, env)
}

func (f *filter) none(env *expr.Env) bool {
	return neverMeet([]expr.Expr{f.cond}, env) || f.in.none(env)
}

func (s *queryScan) none(env *expr.Env) bool { return neverMeet(s.conds, env) || s.q.none(env) }

// none examines a query of WITH only if it is read in one place, in which case PostgreSQL inlines
// it.
func (s *cteScan) none(env *expr.Env) bool {
	return s.c.refs == 1 && !s.c.apart && s.c.q.none(env)
}

func (s *relationScan) none(*expr.Env) bool { return false }

func (s *functionScan) none(*expr.Env) bool { return false }

func (q *valuesQuery) none(*expr.Env) bool { return false }

// none stops the search at recursive queries.
func (q *recursiveQuery) none(*expr.Env) bool { return false }

func (q *setQuery) none(env *expr.Env) bool {
	switch q.op {
	case pg.SetOperation_SETOP_UNION:
		return q.left.none(env) && q.right.none(env)
	case pg.SetOperation_SETOP_INTERSECT:
		return q.left.none(env) || q.right.none(env)
	}
	return q.left.none(env)
}
