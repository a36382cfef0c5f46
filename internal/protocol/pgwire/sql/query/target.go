package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// changed is the relation of an UPDATE or DELETE, and the selection of its rows.
type changed struct {
	l      *level
	scan   *relationScan
	in     source
	rest   []expr.Expr
	fields []value.Field
	back   *returning
}

// changed plans the common part of UPDATE and DELETE.
func (p *Planner) changed(n *pg.RangeVar, r schema.Relation, where *pg.Node, back []*pg.Node) (*changed, error) {
	c := &changed{l: p.level(nil), fields: r.Columns()}
	from, ns, err := c.l.fromRelation(n)
	if err != nil {
		return nil, err
	}
	c.l.visible = []*namespace{ns}
	c.scan = from.(*relationScan)
	for i := range c.scan.used {
		c.scan.used[i] = true
	}
	var gates []expr.Expr
	if c.in, gates, c.rest, err = c.l.where(from, where); err != nil {
		return nil, err
	}
	c.rest = append(gates, c.rest...)
	if len(back) > 0 {
		c.back, err = p.returning(back, r, n)
	}
	return c, err
}

// columns returns the columns of RETURNING.
func (c *changed) columns() []value.Field {
	if c.back == nil {
		return nil
	}
	return c.back.cols
}

// rows calls fn for each row, with the rows of the statement in env.
func (c *changed) rows(env *expr.Env, fn func(old []value.Datum) error) error {
	row, around, inside := c.l.push(env)
	env.Rows = inside
	defer func() { env.Rows = around }()
	return c.in.run(env, func() error {
		if ok, err := expr.AllHold(c.rest, env); err != nil || !ok {
			return err
		}
		return fn(slices.Clone(row[c.scan.base : c.scan.base+len(c.fields)]))
	})
}

// returned adds the RETURNING values for a row.
func (c *changed) returned(env *expr.Env, row []value.Datum, out *Result) error {
	if c.back == nil {
		return nil
	}
	back, err := c.back.row(env, row)
	out.Rows = append(out.Rows, back)
	return err
}

// cannot returns the error for a change that a relation does not support. doing is PostgreSQL's
// verb: "insert into".
func cannot(r schema.Relation, command, doing, hint string) error {
	if own, ok := r.(schema.Hinted); ok {
		hint = own.Hint(command)
	}
	e := pgerror.New("55000", `cannot %s view "%s"`, doing, r.Name())
	e.Hint = hint
	return e
}

// assignments are the SET list of UPDATE or of ON CONFLICT DO UPDATE.
type assignments struct {
	cols []int
	vals []expr.Expr
}

// assignments plans a SET list.
func (l *level) assignments(list []*pg.Node, r schema.Relation) (a assignments, err error) {
	fields := r.Columns()
	for _, item := range list {
		t := item.GetResTarget()
		i := schema.Column(fields, t.Name)
		switch {
		case i < 0:
			return a, l.error(pgerror.UndefinedColumn, t.Location, `column "%s" of relation "%s" does not exist`, t.Name, r.Name())
		case slices.Contains(a.cols, i):
			return a, l.error(pgerror.SyntaxError, t.Location, `multiple assignments to same column "%s"`, t.Name)
		case t.Val.GetSetToDefault() != nil, t.Val.GetMultiAssignRef() != nil:
			return a, pgerror.Unsupported("SET of DEFAULT or of a row").At(l.p.Text, t.Location)
		}
		e, err := l.in(clause{name: "UPDATE"}, func(x *expr.Compiler) (expr.Expr, error) { return x.CompileAs(t.Val, fields[i].Type, -1, t.Name) })
		if err != nil {
			return a, err
		}
		a.cols, a.vals = append(a.cols, i), append(a.vals, e)
	}
	return a, nil
}

// of returns the changed version of the row old.
func (a assignments) of(env *expr.Env, old []value.Datum) ([]value.Datum, error) {
	now := slices.Clone(old)
	for i, e := range a.vals {
		var err error
		if now[a.cols[i]], err = e.Eval(env); err != nil {
			return nil, err
		}
	}
	return now, nil
}
