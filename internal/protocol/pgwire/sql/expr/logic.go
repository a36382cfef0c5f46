package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// logic is AND or OR of any number of conditions.
type logic struct {
	or   bool
	args []Expr
}

func newLogic(or bool, args []Expr) Expr { return &logic{or: or, args: args} }

// And returns the conjunction of conditions, or nil if there are none.
func And(all ...Expr) Expr {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return newLogic(false, all)
}

// Type implements Expr.
func (l *logic) Type() *value.Type { return value.Bool }

// Children implements Parent.
func (l *logic) Children() []Expr { return l.args }

// Eval implements Expr. It stops at the first argument that decides the result.
func (l *logic) Eval(env *Env) (value.Datum, error) {
	null := false
	for _, a := range l.args {
		d, err := a.Eval(env)
		if err != nil {
			return nil, err
		}
		if d == nil {
			null = true
		} else if d.(bool) == l.or {
			return l.or, nil
		}
	}
	if null {
		return nil, nil
	}
	return !l.or, nil
}

// not is NOT.
type not struct{ arg Expr }

// Type implements Expr.
func (n *not) Type() *value.Type { return value.Bool }

// Children implements Parent.
func (n *not) Children() []Expr { return []Expr{n.arg} }

// Eval implements Expr.
func (n *not) Eval(env *Env) (value.Datum, error) {
	d, err := n.arg.Eval(env)
	if d == nil || err != nil {
		return nil, err
	}
	return !d.(bool), nil
}

// isNull is IS [NOT] NULL. A row IS NULL if all of its fields are NULL, and IS NOT NULL if none is.
type isNull struct {
	arg Expr
	not bool
}

// Type implements Expr.
func (n *isNull) Type() *value.Type { return value.Bool }

// Children implements Parent.
func (n *isNull) Children() []Expr { return []Expr{n.arg} }

// Eval implements Expr.
func (n *isNull) Eval(env *Env) (value.Datum, error) {
	d, err := n.arg.Eval(env)
	if err != nil {
		return nil, err
	}
	if r, ok := d.(value.Record); ok {
		for _, f := range r {
			if (f == nil) == n.not {
				return false, nil
			}
		}
		return true, nil
	}
	return (d == nil) != n.not, nil
}

// isBool is IS [NOT] TRUE, FALSE; UNKNOWN is isNull.
type isBool struct {
	arg       Expr
	want, not bool
}

// Type implements Expr.
func (b *isBool) Type() *value.Type { return value.Bool }

// Children implements Parent.
func (b *isBool) Children() []Expr { return []Expr{b.arg} }

// Eval implements Expr.
func (b *isBool) Eval(env *Env) (value.Datum, error) {
	d, err := b.arg.Eval(env)
	if err != nil {
		return nil, err
	}
	v, ok := d.(bool)
	return (ok && v == b.want) != b.not, nil
}

func (c *Compiler) boolean(n *pg.BoolExpr) (Expr, error) {
	names := map[pg.BoolExprType]string{pg.BoolExprType_AND_EXPR: "AND", pg.BoolExprType_OR_EXPR: "OR", pg.BoolExprType_NOT_EXPR: "NOT"}
	var args []Expr
	for _, a := range n.Args {
		e, err := c.CompileBool(a, names[n.Boolop])
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	if n.Boolop == pg.BoolExprType_NOT_EXPR {
		return c.fold(&not{args[0]}), nil
	}
	return c.foldLogic(n.Boolop == pg.BoolExprType_OR_EXPR, args), nil
}

func (c *Compiler) nullTest(n *pg.NullTest) (Expr, error) {
	e, err := c.Compile(n.Arg)
	if err != nil {
		return nil, err
	}
	test := &isNull{arg: e, not: n.Nulltesttype == pg.NullTestType_IS_NOT_NULL}
	if r, ok := e.(*row); ok && test.decided(r) {
		return NewConst(value.Bool, false), nil
	}
	return c.fold(test), nil
}

// decided reports whether a constant field makes the test of a row false. PostgreSQL then does not
// evaluate the other fields.
func (n *isNull) decided(r *row) bool {
	for _, f := range r.fields {
		if k, ok := f.(*Const); ok && (k.Value == nil) == n.not {
			return true
		}
	}
	return false
}

func (c *Compiler) booleanTest(n *pg.BooleanTest) (Expr, error) {
	clause := map[pg.BoolTestType]string{
		pg.BoolTestType_IS_TRUE: "IS TRUE", pg.BoolTestType_IS_NOT_TRUE: "IS NOT TRUE", pg.BoolTestType_IS_FALSE: "IS FALSE",
		pg.BoolTestType_IS_NOT_FALSE: "IS NOT FALSE", pg.BoolTestType_IS_UNKNOWN: "IS UNKNOWN", pg.BoolTestType_IS_NOT_UNKNOWN: "IS NOT UNKNOWN",
	}[n.Booltesttype]
	e, err := c.CompileBool(n.Arg, clause)
	if err != nil {
		return nil, err
	}
	switch n.Booltesttype {
	case pg.BoolTestType_IS_UNKNOWN:
		return c.fold(&isNull{arg: e}), nil
	case pg.BoolTestType_IS_NOT_UNKNOWN:
		return c.fold(&isNull{arg: e, not: true}), nil
	}
	isTrue := n.Booltesttype == pg.BoolTestType_IS_TRUE || n.Booltesttype == pg.BoolTestType_IS_NOT_TRUE
	isNot := n.Booltesttype == pg.BoolTestType_IS_NOT_TRUE || n.Booltesttype == pg.BoolTestType_IS_NOT_FALSE
	return c.fold(&isBool{arg: e, want: isTrue, not: isNot}), nil
}

// rowOrder is (a, b) < (c, d): the first unequal pair decides.
type rowOrder struct {
	before, equal []Expr
	whenEqual     bool
}

// Type implements Expr.
func (r *rowOrder) Type() *value.Type { return value.Bool }

// Children implements Parent.
func (r *rowOrder) Children() []Expr { return append(append([]Expr{}, r.before...), r.equal...) }

// Eval implements Expr.
func (r *rowOrder) Eval(env *Env) (value.Datum, error) {
	for i := range r.equal {
		same, err := r.equal[i].Eval(env)
		if same == nil || err != nil {
			return nil, err
		}
		if !same.(bool) {
			return r.before[i].Eval(env)
		}
	}
	return r.whenEqual, nil
}

// Negated returns the operand of a NOT, or nil for other expressions.
func Negated(e Expr) Expr {
	if n, ok := e.(*not); ok {
		return n.arg
	}
	return nil
}
