package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// search lets a relation look up rows by a condition of WHERE or ON that was just compiled to cond.
// The condition must equate one of the relation's keys with a value that is known before the
// relation is read: one that depends on no relation of the level, or only on relations to its left
// in a join of in. Only relations from slot least on are restricted. The condition is still
// evaluated.
func (l *level) search(part *pg.Node, cond expr.Expr, in source, least int) {
	sides, ok := cond.(expr.Parent)
	if !ok || tree.Equality(part) == nil || tree.Calls(part) || slices.ContainsFunc(l.refs, func(r *slotRef) bool { return r.up != 0 }) {
		return
	}
	pair := sides.Children()
	if len(pair) != 2 {
		return
	}
	for i := range pair {
		if l.searchBy(pair[i], pair[1-i], in, least) {
			return
		}
	}
}

// searchBy is search for one side of the equality.
func (l *level) searchBy(key, by expr.Expr, in source, least int) bool {
	ref, ok := key.(*slotRef)
	if !ok || ref.slot < least || keyType(key.Type(), by.Type()) == nil {
		return false
	}
	s, at := l.keyOf(ref.slot)
	if s == nil || s.by[at] != nil {
		return false
	}
	var others []int
	for _, r := range l.refs {
		if r.slot != ref.slot {
			others = append(others, r.slot)
		}
	}
	if len(others) > 0 {
		j := joinTo(in, s)
		if j == nil || !s.r.(schema.Searcher).SearchedByJoins() || slices.Min(others) < j.Begin || slices.Max(others) >= j.From {
			return false
		}
		j.Again = true
	}
	s.by[at] = by
	return true
}

// keyOf returns the scan that has a slot as a key, and the index of the key.
func (l *level) keyOf(slot int) (*relationScan, int) {
	for _, s := range l.scans {
		r, ok := s.r.(schema.Searcher)
		if !ok {
			continue
		}
		if at := slices.Index(r.Keys(), slot-s.base); at >= 0 {
			return s, at
		}
	}
	return nil, -1
}

// joinTo returns the join whose right side is just the scan.
func joinTo(in source, s *relationScan) *join {
	for {
		switch at := in.(type) {
		case *filter:
			in = at.in
		case *join:
			right := at.right
			for f, ok := right.(*filter); ok; f, ok = right.(*filter) {
				right = f.in
			}
			if right == s {
				if at.kind != pg.JoinType_JOIN_INNER && at.kind != pg.JoinType_JOIN_LEFT {
					return nil
				}
				return at
			}
			in = at.left
		default:
			return nil
		}
	}
}

// keys returns the values for looking up rows. none reports whether one of them is NULL, which
// equals nothing.
func (s *relationScan) keys(env *expr.Env) (by []value.Datum, none bool, err error) {
	by = make([]value.Datum, len(s.by))
	for i, e := range s.by {
		if e == nil {
			continue
		}
		if by[i], err = e.Eval(env); err != nil || by[i] == nil {
			return nil, true, err
		}
	}
	return by, false, nil
}
