package sql

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// What a call does only at the commit, a change of a semaphore say, has a result that is known only
// then. Inside of BEGIN the call gives what is known by now. A statement that has such a call as a
// whole column of its result, and behind which its transaction ends anyway, is committed before its
// rows are shown. In the simple protocol that is a statement by itself, in the extended protocol
// the last before a Sync.

// late returns q as it runs in such a statement, where some columns of its rows are Promises; nil
// when it is as any other.
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

// lateFrom is FROM that is nothing but one call whose value is shown and not looked at: select *
// from f().
func (q *selectQuery) lateFrom() source {
	scan, ok := q.from.(*functionScan)
	if !ok || len(scan.calls) != 1 || len(q.where)+len(q.order)+len(q.on)+len(q.before)+len(q.sets)+len(q.windows) > 0 || q.group != nil || q.distinct {
		return nil
	}
	if !q.plain() {
		return nil
	}
	call := *scan.calls[0]
	if call.fn != nil {
		call.fn = laterRows(call.fn)
	} else if call.scalar, ok = expr.Later(call.scalar); !ok || call.spread {
		return nil
	}
	if call.fn == nil && call.scalar == nil {
		return nil
	}
	made := *scan
	made.calls = []*functionCall{&call}
	return &made
}

// plain tells that the result is columns as they come.
func (q *selectQuery) plain() bool {
	return !slices.ContainsFunc(q.out, func(e expr.Expr) bool { _, column := e.(*slotRef); return !column })
}

// lateSets is a select list that is nothing but one function that returns rows: select f().
func (q *selectQuery) lateSets() []*rowSet {
	if len(q.sets) != 1 || len(q.out) != 1 || q.sets[0].fn == nil || len(q.order)+len(q.on)+len(q.before)+len(q.windows) > 0 || q.group != nil || q.distinct || !q.plain() {
		return nil
	}
	set := *q.sets[0]
	if set.fn = laterRows(set.fn); set.fn == nil {
		return nil
	}
	return []*rowSet{&set}
}

// laterRows is a function whose rows have Promises; nil: it has none.
func laterRows(fn *expr.Function) *expr.Function {
	if fn.LaterRows == nil {
		return nil
	}
	made := *fn
	made.Rows = fn.LaterRows
	return &made
}

// AsksLast reports whether what the portal shows depends on whether it is the Last.
func (s *Session) AsksLast(p *Portal) bool {
	return p.plan != nil && p.plan.late != nil && (s.tx.state == txNone || s.tx.state == txStatement)
}

// showsLate reports whether a portal is to be committed before its rows are shown.
func (s *Session) showsLate(p *Portal, max int) bool {
	last := p.Last || p.prepared.simple == simpleOnly
	return last && s.AsksLast(p) && max == 0 && p.next == nil && !p.done
}

// advanceLate runs a query, commits, and shows the rows.
func (s *Session) advanceLate(p *Portal, row func([]value.Datum) error) (tag string, err error) {
	p.done = true
	rows, err := collect(p.plan.late, p.env)
	if err != nil {
		return "", err
	}
	if err := s.commit(); err != nil {
		return "", err
	}
	for _, r := range rows {
		for i, d := range r {
			if promise, ok := d.(expr.Promise); ok {
				r[i] = promise()
			}
		}
		if err := row(r); err != nil {
			return "", err
		}
	}
	return countTag("SELECT ", len(rows)), nil
}
