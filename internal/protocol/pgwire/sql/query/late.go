package query

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
)

// The result of an operation that takes effect at the commit, such as a change of a semaphore, is
// known only after the commit. Inside a transaction block, such a call returns the result as of the
// call. A statement is committed before its rows are sent if such a call is a whole column of its
// result and its transaction ends after it anyway. In the simple protocol that is a single
// statement, in the extended protocol the last statement before a Sync.

// late returns the variant of q for such a statement, in which some columns of the rows are
// Promises, or nil if q needs none.
func late(q query) query {
	s, ok := q.(*selectQuery)
	if !ok {
		return nil
	}
	made, found := *s, false
	made.out = slices.Clone(s.out)
	for i, e := range s.out {
		if l, ok := expr.Later(e); ok {
			made.out[i], found = l, true
		}
	}
	if from := s.lateFrom(); from != nil {
		made.from, found = from, true
	}
	if sets := s.lateSets(); sets != nil {
		made.sets, found = sets, true
	}
	if !found {
		return nil
	}
	return &made
}

// lateFrom handles a FROM that consists of one call whose value is returned without being examined:
// select * from f().
func (q *selectQuery) lateFrom() source {
	scan, ok := q.from.(*functionScan)
	if !ok || len(scan.List) != 1 || len(q.where)+len(q.order)+len(q.on)+len(q.before)+len(q.sets)+len(q.windows) > 0 || q.group != nil || q.distinct {
		return nil
	}
	if !q.plain() {
		return nil
	}
	call := *scan.List[0]
	if call.Fn != nil {
		call.Fn = laterRows(call.Fn)
	} else if call.Scalar, ok = expr.Later(call.Scalar); !ok || call.Spread {
		return nil
	}
	if call.Fn == nil && call.Scalar == nil {
		return nil
	}
	made := *scan
	made.List = []*exec.Call{&call}
	return &made
}

// plain reports whether the result consists of unmodified columns.
func (q *selectQuery) plain() bool {
	return !slices.ContainsFunc(q.out, func(e expr.Expr) bool { _, column := e.(*slotRef); return !column })
}

// lateSets handles a select list that consists of one set-returning function: select f().
func (q *selectQuery) lateSets() []*exec.RowSet {
	if len(q.sets) != 1 || len(q.out) != 1 || q.sets[0].Fn == nil || len(q.order)+len(q.on)+len(q.before)+len(q.windows) > 0 || q.group != nil || q.distinct || !q.plain() {
		return nil
	}
	set := *q.sets[0]
	if set.Fn = laterRows(set.Fn); set.Fn == nil {
		return nil
	}
	return []*exec.RowSet{&set}
}

// laterRows returns the variant of a function whose rows contain Promises, or nil if there is none.
func laterRows(fn *expr.Function) *expr.Function {
	if fn.LaterRows == nil {
		return nil
	}
	made := *fn
	made.Rows = fn.LaterRows
	return &made
}
