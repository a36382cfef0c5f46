package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways/internal/protocol/pgwire/sql/expr"
)

// A scan may call functions that change things, take a message say. So it must not begin when no
// row of it is wanted. There are two grounds for that, as in PostgreSQL. A condition that depends
// on no row of its query is a gate: it is asked once, before the query reads anything. And what
// constants and parameters alone decide makes a part of FROM empty, and with it all that it is
// joined to.

// isGate tells of the condition compiled last that it depends on no row of the level and calls
// nothing volatile.
func (l *level) isGate(cond expr.Expr) bool {
	return len(l.refs) == 0 && !volatileBesideSublinks(cond)
}

// volatileBesideSublinks tells of calls that may differ from row to row. A sub-select without
// columns of the level is run once.
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

// havingGate tells of a HAVING that depends on no group, so that it is asked before there are any.
func havingGate(cond expr.Expr) bool {
	return rowless(cond, func(s *sublink) bool { return s.memo >= 0 && s.match == nil })
}

// rowless tells of a condition that looks at no row of its level and calls nothing volatile. Of
// sub-selects it has only such as admit lets pass.
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

// allHold reports whether all conditions are true.
func allHold(conds []expr.Expr, env *expr.Env) (bool, error) {
	for _, cond := range conds {
		if ok, err := holds(cond, env); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// neverHold tells that constants and parameters keep one of these conditions from being true,
// whatever the row.
func neverHold(conds []expr.Expr, env *expr.Env) bool {
	return slices.ContainsFunc(conds, func(cond expr.Expr) bool {
		d, known := expr.Settled(cond, env)
		return known && d != true
	})
}

// neverMeet is neverHold for conditions that rows are left out by. EXISTS and IN are joins there:
// without a row in the sub-select there is none.
func neverMeet(conds []expr.Expr, env *expr.Env) bool {
	return neverHold(conds, env) || slices.ContainsFunc(conds, func(cond expr.Expr) bool {
		s, ok := cond.(*sublink)
		return ok && s.joins() && s.q.none(env)
	})
}

// joins tells of a sub-select that is true only with a row.
func (s *sublink) joins() bool {
	return s.kind == pg.SubLinkType_EXISTS_SUBLINK || s.kind == pg.SubLinkType_ANY_SUBLINK
}

// open reports whether the query is to read FROM at all. env.Rows are those inside of it.
func (q *selectQuery) open(env *expr.Env) (bool, error) {
	if q.unread(env) {
		return false, nil
	}
	if ok, err := allHold(q.gates, env); err != nil || !ok {
		return false, err
	}
	for _, cond := range q.where {
		if s, ok := cond.(*sublink); ok && s.joins() {
			if ok, err := flatGatesOpen(s.q, env); err != nil || !ok {
				return false, err
			}
		}
	}
	return gatesOpen(q.from, env)
}

// flatGatesOpen asks the gates of a sub-select that PostgreSQL would make a part of the query
// around it. They look at no row at all, nor into sub-selects of their own, which might run twice.
func flatGatesOpen(in query, env *expr.Env) (bool, error) {
	q, ok := in.(*selectQuery)
	if !ok || q.group != nil || q.distinct || q.limits != (limits{}) || len(q.windows)+len(q.sets)+len(q.on)+len(q.order) > 0 {
		return true, nil
	}
	for _, gate := range q.gates {
		if mentionsRow(gate) {
			continue
		}
		if ok, err := holds(gate, env); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// mentionsRow tells of a condition that looks at a row of any level or has a sub-select.
func mentionsRow(cond expr.Expr) bool {
	found := false
	expr.Walk(cond, func(e expr.Expr) bool {
		switch e.(type) {
		case *slotRef, *wholeRow, *sublink:
			found = true
		}
		return !found
	})
	return found
}

// unread tells that constants and parameters keep every row of FROM out.
func (q *selectQuery) unread(env *expr.Env) bool {
	return neverMeet(q.gates, env) || neverMeet(q.where, env) || q.from != nil && q.from.none(env)
}

func (q *selectQuery) none(env *expr.Env) bool {
	if q.group != nil && len(q.group.keys) == 0 { // no rows are a group too
		return q.group.having != nil && neverHold([]expr.Expr{q.group.having}, env)
	}
	return q.unread(env)
}

// gatesOpen asks the gates of the joins in FROM that let no row of the whole through when they are
// closed.
func gatesOpen(in source, env *expr.Env) (bool, error) {
	switch s := in.(type) {
	case *filter:
		return gatesOpen(s.in, env)
	case *queryScan:
		return flatGatesOpen(s.q, env)
	case *join:
		if ok, err := allHold(s.gates, env); err != nil || !ok {
			return false, err
		}
		if s.kind == pg.JoinType_JOIN_INNER || s.kind == pg.JoinType_JOIN_LEFT {
			if ok, err := gatesOpen(s.left, env); err != nil || !ok {
				return false, err
			}
		}
		if s.kind == pg.JoinType_JOIN_INNER || s.kind == pg.JoinType_JOIN_RIGHT {
			return gatesOpen(s.right, env)
		}
	}
	return true, nil
}

func (j *join) none(env *expr.Env) bool {
	switch j.kind {
	case pg.JoinType_JOIN_INNER:
		return neverMeet(j.gates, env) || neverMeet(j.on, env) || j.left.none(env) || j.right.none(env)
	case pg.JoinType_JOIN_LEFT:
		return j.left.none(env)
	case pg.JoinType_JOIN_RIGHT:
		return j.right.none(env)
	}
	return j.left.none(env) && j.right.none(env)
}

// lonely tells that no row of one side of an outer join finds a partner, so that the other side
// need not be read.
func (j *join) lonely(env *expr.Env) bool {
	return (j.kind == pg.JoinType_JOIN_LEFT || j.kind == pg.JoinType_JOIN_RIGHT) && neverHold(j.on, env)
}

func (f *filter) none(env *expr.Env) bool {
	return neverMeet([]expr.Expr{f.cond}, env) || f.in.none(env)
}

func (s *queryScan) none(env *expr.Env) bool { return s.q.none(env) }

// none looks into a query of WITH only when it is read in one place, where PostgreSQL puts it in.
func (s *cteScan) none(env *expr.Env) bool {
	return s.c.refs == 1 && !s.c.apart && s.c.q.none(env)
}

func (s *relationScan) none(*expr.Env) bool { return false }

func (s *functionScan) none(*expr.Env) bool { return false }

func (q *valuesQuery) none(*expr.Env) bool { return false }

// none keeps what is looked for out of the rounds of a recursive query.
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
