package sql

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// cte is one query of WITH. It is run once, when it is first read; its rows are a memo of the level that has the WITH.
type cte struct {
	name string
	q    query
	cols []value.Field
	memo int
}

// with plans a WITH clause.
func (l *level) with(n *pg.WithClause) error {
	if n == nil {
		return nil
	}
	for _, item := range n.Ctes {
		c := item.GetCommonTableExpr()
		if n.Recursive && mentionsTable(c.Ctequery, c.Ctename) {
			return unsupported("WITH RECURSIVE").At(l.p.text, c.Location)
		}
		if c.Ctequery.GetSelectStmt() == nil {
			return unsupported("a statement that changes data in WITH").At(l.p.text, c.Location)
		}
		for _, other := range l.ctes {
			if other.name == c.Ctename {
				return l.error("42712", c.Location, `WITH query name "%s" specified more than once`, c.Ctename)
			}
		}
		q, err := l.p.query(c.Ctequery.GetSelectStmt(), l)
		if err != nil {
			return err
		}
		made := &cte{name: c.Ctename, q: q, memo: l.memo()}
		renamed := names(c.Aliascolnames)
		if len(renamed) > len(q.columns()) {
			return l.error("42P10", c.Location, `WITH query "%s" has %d columns available but %d columns specified`,
				c.Ctename, len(q.columns()), len(renamed))
		}
		for i, f := range q.columns() {
			if i < len(renamed) {
				f.Name = renamed[i]
			}
			made.cols = append(made.cols, f)
		}
		l.ctes = append(l.ctes, made)
	}
	return nil
}

// mentionsTable tells of a query that reads a table of this name.
func mentionsTable(n *pg.Node, name string) bool {
	return anyRangeVar(n.ProtoReflect(), func(r *pg.RangeVar) bool { return r.Schemaname == "" && r.Relname == name })
}

// cte finds a query of WITH and tells how many levels out it is.
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
	s := &cteScan{c: c, up: up, base: l.slot(len(c.cols))}
	ns, err := l.bring(n.Alias, n.Relname, "", c.cols, s.base, nil)
	return s, ns, err
}

// cteScan reads a query of WITH.
type cteScan struct {
	c    *cte
	up   int
	base int
}

func (s *cteScan) run(env *expr.Env, emit func() error) error {
	m := memoOf(env, s.up, s.c.memo)
	if !m.done {
		inside := env.Rows
		env.Rows = inside[s.up:]
		rows, err := collect(s.c.q, env)
		env.Rows = inside
		if err != nil {
			return err
		}
		m.done, m.rows = true, rows
	}
	for _, row := range m.rows {
		if err := env.Ctx.Err(); err != nil {
			return err
		}
		copy(env.Rows[0][s.base:], row)
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}
