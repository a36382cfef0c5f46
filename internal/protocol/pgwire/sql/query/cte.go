package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// cte is one query of WITH. It runs once, when it is first read. Its rows are stored in a memo of
// the level that has the WITH.
type cte struct {
	name  string
	q     query
	cols  []value.Field
	memo  int
	free  bool // it has no outer references: the memo is in the outermost level
	refs  int  // number of places that read it
	apart bool // MATERIALIZED
}

// with plans a WITH clause.
func (l *level) with(n *pg.WithClause) error {
	if n == nil {
		return nil
	}
	for _, item := range n.Ctes {
		c := item.GetCommonTableExpr()
		if c.Ctequery.GetSelectStmt() == nil {
			return pgerror.Unsupported("a statement that changes data in WITH").At(l.p.Text, c.Location)
		}
		for _, other := range l.ctes {
			if other.name == c.Ctename {
				return l.error("42712", c.Location, `WITH query name "%s" specified more than once`, c.Ctename)
			}
		}
		if n.Recursive && tree.MentionsTable(c.Ctequery, c.Ctename) {
			made, err := l.recursive(c)
			if err != nil {
				return err
			}
			l.ctes = append(l.ctes, made)
			continue
		}
		q, free, err := l.freeQuery(c.Ctequery.GetSelectStmt())
		if err != nil {
			return err
		}
		at := l
		if free {
			at = l.root()
		}
		made := &cte{name: c.Ctename, q: q, memo: at.memo(), free: free, apart: c.Ctematerialized == pg.CTEMaterialize_CTEMaterializeAlways}
		if err := l.nameColumns(made, c); err != nil {
			return err
		}
		l.ctes = append(l.ctes, made)
	}
	return nil
}

// nameColumns applies the column aliases of a query of WITH.
func (l *level) nameColumns(made *cte, c *pg.CommonTableExpr) error {
	renamed := tree.Names(c.Aliascolnames)
	if cols := made.q.columns(); len(renamed) > len(cols) {
		return l.error("42P10", c.Location, `WITH query "%s" has %d columns available but %d columns specified`, c.Ctename, len(cols), len(renamed))
	}
	for i, f := range made.q.columns() {
		if i < len(renamed) {
			f.Name = renamed[i]
		}
		made.cols = append(made.cols, f)
	}
	return nil
}

// cte returns the query of WITH with this name, and how many levels out it is.
func (l *level) cte(name string) (*cte, int) {
	for at, up := l, 0; at != nil; at, up = at.parent, up+1 {
		for _, c := range at.ctes {
			if c.name == name {
				return c, up
			}
		}
	}
	return nil, 0
}

func (l *level) fromCTE(n *pg.RangeVar, c *cte, up int) (source, *namespace, error) {
	l.use(up)
	c.refs++
	s := &cteScan{c: c, up: up, kept: up, base: l.slot(len(c.cols))}
	if c.free {
		s.kept = l.depth
	}
	ns, err := l.bring(n.Alias, n.Relname, "", c.cols, s.base, nil)
	return s, ns, err
}

// cteScan reads the rows of a query of WITH.
type cteScan struct {
	c    *cte
	up   int // number of levels out to the level with the WITH
	kept int // number of levels out to the level with the memo
	base int
}

func (s *cteScan) run(env *expr.Env, emit func() error) error {
	m := memoOf(env, s.kept, s.c.memo)
	give := func(row []value.Datum) error {
		if err := env.Ctx.Err(); err != nil {
			return err
		}
		copy(env.Rows[0][s.base:], row)
		return emit()
	}
	if !m.done && !m.working {
		switch {
		case s.up == 0 && s.c.refs == 1:
			return s.stream(m, env, give)
		case s.c.free && env.Ends != nil:
			return s.share(m, env, give)
		}
		inside := env.Rows
		env.Rows = inside[s.up:]
		rows, err := collect(s.c.q, env)
		env.Rows = inside
		if err != nil {
			return err
		}
		m.done, m.rows = true, rows
	}
	for _, row := range m.rows { // a recursive query changes m.rows only between rounds
		if err := give(row); err != nil {
			return err
		}
	}
	return nil
}

// share passes the rows to one of several readers. Rows are produced on demand by the reader that
// is furthest ahead, so that no more are produced than needed.
func (s *cteScan) share(m *memo, env *expr.Env, give func([]value.Datum) error) error {
	if m.next == nil {
		m.env = env.Apart()
		m.env.Rows = env.Rows[s.up:]
		var stop func()
		m.next, stop = pull(s.c.q, m.env)
		env.Ends.Add(stop)
	}
	for i := 0; ; i++ {
		if i == len(m.rows) {
			if m.done {
				return nil
			}
			if err := m.more(env); err != nil {
				return err
			}
		}
		if i == len(m.rows) {
			return nil
		}
		if err := give(m.rows[i]); err != nil {
			return err
		}
	}
}

// more produces the next row, if there is one.
func (m *memo) more(env *expr.Env) error {
	m.env.Ctx = env.Ctx
	row, err, ok := m.next()
	switch {
	case err != nil:
		return err
	case !ok:
		m.done = true
		return nil
	}
	m.rows = append(m.rows, slices.Clone(row))
	return m.heap.Keep(row)
}

// stream passes the rows to the only reader as they are produced, because it may not need all of
// them.
func (s *cteScan) stream(m *memo, env *expr.Env, give func([]value.Datum) error) error {
	var rows [][]value.Datum
	var heap expr.Heap
	err := s.c.q.run(env, func(row []value.Datum) error {
		rows = append(rows, slices.Clone(row))
		if err := heap.Keep(row); err != nil {
			return err
		}
		return give(row)
	})
	if err == nil {
		m.done, m.rows = true, rows
	}
	return err
}
