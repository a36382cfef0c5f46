package query

import (
	"errors"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Arguments are the arguments of EXECUTE.
type Arguments struct {
	l    *level
	list []expr.Expr
}

// Arguments plans the arguments of EXECUTE for parameters of these types.
func (p *Planner) Arguments(list []*pg.Node, types []*value.Type) (*Arguments, error) {
	l := p.level(nil)
	args := make([]expr.Expr, len(list))
	for i, n := range list {
		e, err := l.compile(n, clause{name: "EXECUTE parameters"})
		if err != nil {
			return nil, err
		}
		if args[i], err = l.argument(e, types[i], i, expr.Location(n)); err != nil {
			return nil, err
		}
	}
	return &Arguments{l, args}, nil
}

// argument converts an argument of EXECUTE to the type of its parameter.
func (l *level) argument(e expr.Expr, t *value.Type, i int, location int32) (expr.Expr, error) {
	made, err := l.compiler().Assign(e, t, -1, "", location)
	var wrong *pgerror.Error
	if errors.As(err, &wrong) && wrong.Code == pgerror.DatatypeMismatch {
		return nil, l.error(pgerror.DatatypeMismatch, location, "parameter $%d of type %s cannot be coerced to the expected type %s",
			i+1, e.Type(), t).WithHint("You will need to rewrite or cast the expression.")
	}
	return made, err
}

// Values evaluates the arguments.
func (a *Arguments) Values(env *expr.Env) ([]value.Datum, error) {
	_, around, inside := a.l.push(env)
	env.Rows = inside
	defer func() { env.Rows = around }()
	vals, _, err := expr.EvalArgs(env, a.list)
	return vals, err
}

// Condition is the WHERE of COPY FROM: a condition over a row of the relation.
type Condition struct {
	l    *level
	base int
	cond expr.Expr
}

// CopyCondition plans the WHERE of COPY FROM. fields are the columns of the relation.
func (p *Planner) CopyCondition(n *pg.CopyStmt, fields []value.Field) (*Condition, error) {
	l := p.level(nil)
	c := &Condition{l: l, base: l.slot(len(fields))}
	ns, err := l.bring(nil, n.Relation.Relname, n.Relation.Schemaname, fields, c.base, nil)
	if err != nil {
		return nil, err
	}
	l.visible = []*namespace{ns}
	in := clause{name: "COPY FROM WHERE conditions", alone: "COPY FROM WHERE condition"}
	c.cond, err = l.in(in, func(x *expr.Compiler) (expr.Expr, error) {
		return x.CompileBool(n.WhereClause, "WHERE")
	})
	return c, err
}

// Holds reports whether the condition is true for a row.
func (c *Condition) Holds(env *expr.Env, row []value.Datum) (bool, error) {
	slots, around, inside := c.l.push(env)
	copy(slots[c.base:], row)
	env.Rows = inside
	defer func() { env.Rows = around }()
	return expr.Holds(c.cond, env)
}
