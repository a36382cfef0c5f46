package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// conflict is ON CONFLICT: what happens to a row that already exists. Its level has the columns of
// the relation, followed by those of excluded.
type conflict struct {
	rows   schema.Unique
	update schema.Updater // nil: DO NOTHING
	l      *level
	base   int // slot of the first column of the existing row; those of excluded follow
	set    assignments
	where  expr.Expr // nil: always
}

func (p *Planner) conflict(n *pg.OnConflictClause, r schema.Relation, as *pg.RangeVar) (*conflict, error) {
	rows, ok := r.(schema.Unique)
	if !ok {
		return nil, pgerror.Unsupported("ON CONFLICT")
	}
	column, constraint := rows.Unique()
	if err := p.arbiter(n, r, r.Columns()[column].Name, constraint); err != nil {
		return nil, err
	}
	c := &conflict{rows: rows}
	if n.Action != pg.OnConflictAction_ONCONFLICT_UPDATE {
		return c, nil
	}
	if c.update, ok = r.(schema.Updater); !ok {
		return nil, cannot(r, "UPDATE", "update", "")
	}
	fields := r.Columns()
	l := p.level(nil)
	c.l, c.base = l, l.slot(2*len(fields))
	here, err := l.bring(as.Alias, as.Relname, as.Schemaname, fields, c.base, nil)
	if err != nil {
		return nil, err
	}
	excluded, err := l.bring(nil, "excluded", "", fields, c.base+len(fields), nil)
	if err != nil {
		return nil, err
	}
	l.visible = []*namespace{here, {items: excluded.items}} // columns of excluded are visible only by its name
	if c.set, err = l.assignments(n.TargetList, r); err == nil && n.WhereClause != nil {
		c.where, err = l.condition(n.WhereClause, clause{name: "WHERE"})
	}
	return c, err
}

// arbiter returns an error if the conflict target is not a unique index.
func (p *Planner) arbiter(n *pg.OnConflictClause, r schema.Relation, column, constraint string) error {
	target := n.Infer
	switch {
	case target == nil && n.Action == pg.OnConflictAction_ONCONFLICT_UPDATE:
		return pgerror.New(pgerror.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			WithHint("For example, ON CONFLICT (column_name).").At(p.Text, n.Location)
	case target == nil:
		return nil
	case target.Conname != "" && target.Conname != constraint:
		return pgerror.New(pgerror.UndefinedObject, `constraint "%s" for table "%s" does not exist`, target.Conname, r.Name())
	}
	for _, item := range target.IndexElems {
		name := item.GetIndexElem().GetName()
		if schema.Column(r.Columns(), name) < 0 {
			return pgerror.New(pgerror.UndefinedColumn, `column "%s" does not exist`, name).At(p.Text, target.Location)
		}
		if name != column || len(target.IndexElems) > 1 {
			return pgerror.New("42P10", "there is no unique or exclusion constraint matching the ON CONFLICT specification")
		}
	}
	return nil
}

// settle handles a row that conflicts with an existing one. done reports whether the row must not
// be inserted. stored is the row for RETURNING, or nil for none.
func (c *conflict) settle(env *expr.Env, row []value.Datum) (stored []value.Datum, done bool, err error) {
	old, err := c.rows.Same(env, row)
	if old == nil || err != nil {
		return nil, false, err
	}
	if c.update == nil {
		return nil, true, nil
	}
	slots, around, inside := c.l.push(env)
	copy(slots[c.base:], old)
	copy(slots[c.base+len(row):], row)
	env.Rows = inside
	defer func() { env.Rows = around }()
	if c.where != nil {
		if ok, err := expr.Holds(c.where, env); err != nil || !ok {
			return nil, true, err
		}
	}
	now, err := c.set.of(env, old)
	if err == nil {
		err = c.update.Update(env, old, now)
	}
	return now, true, err
}
