package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
)

// refuseSampling rejects the query that postgres_fdw sends before it reads a whole relation for
// ANALYZE. A Taker must not be read for statistics.
func (p *Planner) refuseSampling(n *pg.SelectStmt) error {
	name := tree.SampledRelation(n)
	if name == nil {
		return nil
	}
	e, err := p.level(nil).compile(name, clause{name: "SELECT"})
	if err != nil {
		return err
	}
	oid, err := e.Eval(p.Env)
	if err != nil {
		return err
	}
	if r, takes := p.relationOf(oid).(schema.Taker); takes {
		return pgerror.Unsupported(`ANALYZE of a foreign table over the view "` + r.Name() + `", which receives a message when it is read,`).
			WithHint("A queue has no statistics: leave the foreign table out of ANALYZE.")
	}
	return nil
}

// relationOf returns a relation by its OID, or nil if there is none.
func (p *Planner) relationOf(oid any) schema.Relation {
	n, ok := oid.(int64)
	if !ok {
		return nil
	}
	for _, in := range p.Schemas {
		for _, r := range in.AllRelations(p.Env) {
			if int64(r.OID()) == n {
				return r
			}
		}
	}
	return nil
}
