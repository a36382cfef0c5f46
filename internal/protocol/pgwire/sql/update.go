package sql

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// update plans UPDATE of a relation that supports it.
func (p *planner) update(n *pg.UpdateStmt) (*plan, error) {
	r, err := p.relation(n.Relation)
	if err != nil {
		return nil, err
	}
	to, ok := r.(Updater)
	if !ok {
		return nil, cannot(r, "UPDATE", "update", "")
	}
	if len(n.FromClause) > 0 || n.WithClause != nil {
		return nil, unsupported("UPDATE with FROM or WITH")
	}
	c, err := p.changed(n.Relation, r, n.WhereClause, n.ReturningList)
	if err != nil {
		return nil, err
	}
	set, err := c.l.assignments(n.TargetList, r)
	if err != nil {
		return nil, err
	}
	return &plan{writes: "UPDATE", columns: c.columns(), command: func(env *expr.Env) (out result, err error) {
		type change struct{ old, now []value.Datum }
		var changes []change
		err = c.rows(env, func(old []value.Datum) error {
			now, err := set.of(env, old)
			changes = append(changes, change{old, now})
			return err
		})
		for _, ch := range changes {
			if err == nil {
				err = to.Update(env, ch.old, ch.now)
			}
			if err == nil {
				err = c.returned(env, ch.now, &out)
			}
		}
		out.tag = countTag("UPDATE ", len(changes))
		return out, err
	}}, nil
}

// delete plans DELETE from a relation that supports it. Queues do not: a message is deleted by
// receiving it.
func (p *planner) delete(n *pg.DeleteStmt) (*plan, error) {
	r, err := p.relation(n.Relation)
	if err != nil {
		return nil, err
	}
	from, ok := r.(Deleter)
	if !ok {
		return nil, cannot(r, "DELETE", "delete from", "A message is gone once it was received: SELECT from the view.")
	}
	if len(n.UsingClause) > 0 || n.WithClause != nil {
		return nil, unsupported("DELETE with USING or WITH")
	}
	c, err := p.changed(n.Relation, r, n.WhereClause, n.ReturningList)
	if err != nil {
		return nil, err
	}
	return &plan{writes: "DELETE", columns: c.columns(), command: func(env *expr.Env) (out result, err error) {
		var all [][]value.Datum
		err = c.rows(env, func(old []value.Datum) error {
			all = append(all, old)
			return nil
		})
		for _, row := range all {
			if err == nil {
				err = from.Delete(env, row)
			}
			if err == nil {
				err = c.returned(env, row, &out)
			}
		}
		out.tag = countTag("DELETE ", len(all))
		return out, err
	}}, nil
}
