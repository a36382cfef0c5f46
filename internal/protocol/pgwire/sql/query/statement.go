package query

import (
	"errors"
	"iter"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Select is a planned SELECT, VALUES or set operation that is a statement of its own.
type Select struct {
	q    query
	late *Select
}

// Select plans a query.
func (p *Planner) Select(n *pg.SelectStmt) (*Select, error) {
	if err := p.refuseSampling(n); err != nil {
		return nil, err
	}
	q, err := p.query(n, nil)
	if err != nil {
		return nil, err
	}
	s := &Select{q: q}
	if after := late(q); after != nil {
		s.late = &Select{q: after}
	}
	return s, nil
}

// Columns returns its columns. They are not nil, because a SELECT without columns still returns
// rows.
func (s *Select) Columns() []value.Field {
	if columns := s.q.columns(); columns != nil {
		return columns
	}
	return []value.Field{}
}

// Doomed returns an error that fails each run before its rows are described: PostgreSQL evaluates
// constants first.
func (s *Select) Doomed() error {
	if q, ok := s.q.(*selectQuery); ok {
		return q.doomed()
	}
	return nil
}

// Late returns the variant that is committed before its rows are sent, some values of which are
// Promises; nil: there is none.
func (s *Select) Late() *Select { return s.late }

// Run passes the rows to emit one by one, each valid until emit returns. An error of emit ends the
// run and is returned.
func (s *Select) Run(env *expr.Env, emit func(row []value.Datum) error) error {
	return s.q.run(env, emit)
}

// Collect returns all rows.
func (s *Select) Collect(env *expr.Env) ([][]value.Datum, error) { return collect(s.q, env) }

// Pull returns an iterator over the rows. The caller must call stop unless it reads all of them.
func (s *Select) Pull(env *expr.Env) (next func() ([]value.Datum, error, bool), stop func()) {
	return pull(s.q, env)
}

// pull converts a query to an iterator. The caller must call stop unless it reads all rows.
func pull(q query, env *expr.Env) (next func() ([]value.Datum, error, bool), stop func()) {
	return iter.Pull2(func(yield func([]value.Datum, error) bool) {
		err := q.run(env, func(row []value.Datum) error {
			if !yield(row, nil) {
				return exec.ErrStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, exec.ErrStop) {
			yield(nil, err)
		}
	})
}

// Bound returns s as it runs in the environment that bind makes of that of the statement.
func (s *Select) Bound(bind func(*expr.Env) (*expr.Env, error)) *Select {
	made := &Select{q: &bound{s.q, bind}}
	if s.late != nil {
		made.late = s.late.Bound(bind)
	}
	return made
}

// bound is a prepared query with bound parameters.
type bound struct {
	query
	bind func(*expr.Env) (*expr.Env, error)
}

func (b *bound) run(env *expr.Env, emit func([]value.Datum) error) error {
	inner, err := b.bind(env)
	if err != nil {
		return err
	}
	return b.query.run(inner, emit)
}
