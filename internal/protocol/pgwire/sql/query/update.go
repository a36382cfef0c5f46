package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Update plans UPDATE of a relation that supports it.
func (p *Planner) Update(n *pg.UpdateStmt) (Change, error) {
	r, err := p.Relation(n.Relation)
	if err != nil {
		return Change{}, err
	}
	to, ok := r.(schema.Updater)
	if !ok {
		return Change{}, cannot(r, "UPDATE", "update", "")
	}
	if len(n.FromClause) > 0 || n.WithClause != nil {
		return Change{}, pgerror.Unsupported("UPDATE with FROM or WITH")
	}
	c, err := p.changed(n.Relation, r, n.WhereClause, n.ReturningList)
	if err != nil {
		return Change{}, err
	}
	set, err := c.l.assignments(n.TargetList, r)
	if err != nil {
		return Change{}, err
	}
	return Change{Columns: c.columns(), Run: func(env *expr.Env) (out Result, err error) {
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
		out.Tag = CountTag("UPDATE ", len(changes))
		return out, err
	}}, nil
}

// Delete plans DELETE from a relation that supports it. Queues do not: a message is deleted by
// receiving it.
func (p *Planner) Delete(n *pg.DeleteStmt) (Change, error) {
	r, err := p.Relation(n.Relation)
	if err != nil {
		return Change{}, err
	}
	from, ok := r.(schema.Deleter)
	if !ok {
		return Change{}, cannot(r, "DELETE", "delete from", "A message is gone once it was received: SELECT from the view.")
	}
	if len(n.UsingClause) > 0 || n.WithClause != nil {
		return Change{}, pgerror.Unsupported("DELETE with USING or WITH")
	}
	c, err := p.changed(n.Relation, r, n.WhereClause, n.ReturningList)
	if err != nil {
		return Change{}, err
	}
	return Change{Columns: c.columns(), Run: func(env *expr.Env) (out Result, err error) {
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
		out.Tag = CountTag("DELETE ", len(all))
		return out, err
	}}, nil
}
