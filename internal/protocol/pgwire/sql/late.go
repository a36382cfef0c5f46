package sql

import (
	"slices"

	"fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// What a call does only at the commit, a change of a semaphore say, has a result that is known only then. Inside of BEGIN the call gives what is known
// by now. A statement that is a transaction by itself, and has such a call as a whole column of its result, is committed before its rows are shown.

// late returns q as it runs in such a statement, where some columns of its rows are Promises; nil when it is as any other.
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
	if !found {
		return nil
	}
	return &made
}

// lateFrom is FROM that is nothing but one call whose value is shown and not looked at: select * from f().
func (q *selectQuery) lateFrom() source {
	scan, ok := q.from.(*functionScan)
	if !ok || len(scan.calls) != 1 || len(q.where)+len(q.order)+len(q.on)+len(q.before)+len(q.sets)+len(q.windows) > 0 || q.group != nil || q.distinct {
		return nil
	}
	for _, e := range q.out {
		if _, plain := e.(*slotRef); !plain {
			return nil
		}
	}
	call := *scan.calls[0]
	if call.scalar == nil || call.spread {
		return nil
	}
	if call.scalar, ok = expr.Later(call.scalar); !ok {
		return nil
	}
	made := *scan
	made.calls = []*functionCall{&call}
	return &made
}

// showsLate tells whether a portal is to be committed before its rows are shown.
func (s *Session) showsLate(p *Portal, max int) bool {
	return p.plan.late != nil && s.tx.state == txStatement && !s.tx.piped && max == 0 && p.next == nil && !p.done
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
