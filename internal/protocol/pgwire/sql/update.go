package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// delete refuses DELETE: there is no relation whose rows can be deleted by it.
func (p *planner) delete(n *pg.DeleteStmt) (*plan, error) {
	r, err := p.relation(n.Relation)
	if err != nil {
		return nil, err
	}
	return nil, pgerror.New("55000", `cannot delete from view "%s"`, r.Name()).WithHint("A message is gone once it was received: SELECT from the view.")
}

// update plans UPDATE of a relation that can be changed: pg_settings is one.
func (p *planner) update(n *pg.UpdateStmt) (*plan, error) {
	r, err := p.relation(n.Relation)
	if err != nil {
		return nil, err
	}
	to, ok := r.(Updater)
	if !ok {
		return nil, pgerror.New("55000", `cannot update view "%s"`, r.Name())
	}
	if len(n.FromClause) > 0 || n.WithClause != nil {
		return nil, unsupported("UPDATE with FROM or WITH")
	}
	l := p.level(nil)
	from, ns, err := l.fromRelation(n.Relation)
	if err != nil {
		return nil, err
	}
	l.visible = []*namespace{ns}
	scan := from.(*relationScan)
	for i := range scan.used {
		scan.used[i] = true
	}
	in, rest, err := l.where(from, n.WhereClause)
	if err != nil {
		return nil, err
	}
	fields := r.Columns()
	var cols []int
	var vals []expr.Expr
	for _, item := range n.TargetList {
		t := item.GetResTarget()
		i := columnAt(fields, t.Name)
		if i < 0 {
			return nil, l.error(pgerror.UndefinedColumn, t.Location, `column "%s" of relation "%s" does not exist`, t.Name, r.Name())
		}
		e, err := l.in(clause{name: "UPDATE"}, func(x *expr.Compiler) (expr.Expr, error) { return x.CompileAs(t.Val, fields[i].Type, -1, t.Name) })
		if err != nil {
			return nil, err
		}
		cols, vals = append(cols, i), append(vals, e)
	}
	made := &plan{writes: "UPDATE"}
	var back *returning
	if len(n.ReturningList) > 0 {
		if back, err = p.returning(n.ReturningList, r, n.Relation); err != nil {
			return nil, err
		}
		made.columns = back.cols
	}
	made.command = func(env *expr.Env) (result, error) {
		row, around, inside := l.push(env)
		env.Rows = inside
		defer func() { env.Rows = around }()
		type change struct{ old, now []value.Datum }
		var changes []change
		err := in.run(env, func() error {
			for _, cond := range rest {
				if ok, err := holds(cond, env); err != nil || !ok {
					return err
				}
			}
			old := slices.Clone(row[scan.base : scan.base+len(fields)])
			now := slices.Clone(old)
			for i, e := range vals {
				var err error
				if now[cols[i]], err = e.Eval(env); err != nil {
					return err
				}
			}
			changes = append(changes, change{old, now})
			return nil
		})
		if err != nil {
			return result{}, err
		}
		env.Rows = around
		out := result{tag: countTag("UPDATE ", len(changes))}
		for _, c := range changes {
			if err := to.Update(env, c.old, c.now); err != nil {
				return result{}, err
			}
			if back != nil {
				row, err := back.row(env, c.now)
				if err != nil {
					return result{}, err
				}
				out.rows = append(out.rows, row)
			}
		}
		return out, nil
	}
	return made, nil
}
