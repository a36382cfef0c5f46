package sql

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// AsksLast reports whether the rows of the portal depend on whether it is the Last.
func (s *Session) AsksLast(p *Portal) bool {
	return p.plan != nil && p.plan.query != nil && p.plan.query.Late() != nil && (s.tx.state == txNone || s.tx.state == txStatement)
}

// showsLate reports whether a portal must be committed before its rows are sent.
func (s *Session) showsLate(p *Portal, max int) bool {
	last := p.Last || p.prepared.simple == simpleOnly
	return last && s.AsksLast(p) && max == 0 && p.next == nil && !p.done
}

// advanceLate runs a query, commits, and sends the rows.
func (s *Session) advanceLate(p *Portal, row func([]value.Datum) error) (tag string, err error) {
	p.done = true
	rows, err := p.plan.query.Late().Collect(p.env)
	if err != nil {
		return "", err
	}
	if err := s.commit(p.env.Ctx); err != nil {
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
	return query.CountTag("SELECT ", len(rows)), nil
}
