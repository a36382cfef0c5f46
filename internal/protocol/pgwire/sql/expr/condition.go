package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// caseNode is CASE. If it has an operand, the conditions refer to it with a caseTest.
type caseNode struct {
	t           *value.Type
	operand     Expr // nil: none
	conditions  []Expr
	results     []Expr
	defaultExpr Expr
}

// Type implements Expr.
func (n *caseNode) Type() *value.Type { return n.t }

// Children implements Parent.
func (n *caseNode) Children() []Expr {
	all := append(append([]Expr{n.defaultExpr}, n.conditions...), n.results...)
	if n.operand != nil {
		all = append(all, n.operand)
	}
	return all
}

// Eval implements Expr.
func (n *caseNode) Eval(env *Env) (value.Datum, error) {
	if n.operand != nil {
		d, err := n.operand.Eval(env)
		if err != nil {
			return nil, err
		}
		env.operands = append(env.operands, d)
	}
	chosen, err := n.choose(env)
	if n.operand != nil {
		env.operands = env.operands[:len(env.operands)-1]
	}
	if err != nil {
		return nil, err
	}
	return chosen.Eval(env)
}

func (n *caseNode) choose(env *Env) (Expr, error) {
	for i, condition := range n.conditions {
		d, err := condition.Eval(env)
		if err != nil {
			return nil, err
		}
		if d == true {
			return n.results[i], nil
		}
	}
	return n.defaultExpr, nil
}

// caseTest is the operand of the innermost CASE that is being evaluated. A nested CASE removes its
// operand when it is done.
type caseTest struct{ t *value.Type }

// Type implements Expr.
func (n *caseTest) Type() *value.Type { return n.t }

// Eval implements Expr.
func (n *caseTest) Eval(env *Env) (value.Datum, error) { return env.operands[len(env.operands)-1], nil }

func (c *Compiler) caseExpr(n *pg.CaseExpr) (Expr, error) {
	made := &caseNode{}
	var test Expr
	if n.Arg != nil {
		e, err := c.Compile(n.Arg)
		if err != nil {
			return nil, err
		}
		if made.operand, err = c.ResolveUnknown(e); err != nil {
			return nil, err
		}
		if test = made.operand; !isConst(test) {
			test = &caseTest{made.operand.Type()}
		}
	}
	results, places := []Expr{&Const{T: value.Unknown, Mod: -1, at: -1}}, []int32{-1}
	for _, node := range n.Args {
		when := node.GetCaseWhen()
		condition, err := c.Compile(when.Expr)
		if err == nil && test != nil {
			condition, err = c.compared("=", test, condition, when.Location)
		}
		if err == nil {
			condition, err = c.toBool(condition, "CASE/WHEN", locationOf(when.Expr))
		}
		if err != nil {
			return nil, err
		}
		result, err := c.Compile(when.Result)
		if err != nil {
			return nil, err
		}
		made.conditions = append(made.conditions, condition)
		results, places = append(results, result), append(places, locationOf(when.Result))
	}
	if n.Defresult != nil {
		e, err := c.Compile(n.Defresult)
		if err != nil {
			return nil, err
		}
		results[0], places[0] = e, locationOf(n.Defresult)
	}
	results, t, err := c.CommonType("CASE", results, places)
	if err != nil {
		return nil, err
	}
	made.t, made.defaultExpr, made.results = t, results[0], results[1:]
	if isConst(made.operand) {
		made.operand = nil // it is contained in the conditions
	}
	return c.foldCase(made), nil
}

// coalesce is COALESCE.
type coalesce struct {
	t    *value.Type
	args []Expr
}

// Type implements Expr.
func (n *coalesce) Type() *value.Type { return n.t }

// Children implements Parent.
func (n *coalesce) Children() []Expr { return n.args }

// Eval implements Expr.
func (n *coalesce) Eval(env *Env) (value.Datum, error) {
	for _, a := range n.args {
		if d, err := a.Eval(env); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

// minMax is GREATEST and LEAST.
type minMax struct {
	t        *value.Type
	args     []Expr
	greatest bool
}

// Type implements Expr.
func (n *minMax) Type() *value.Type { return n.t }

// Children implements Parent.
func (n *minMax) Children() []Expr { return n.args }

// Eval implements Expr. It ignores NULLs.
func (n *minMax) Eval(env *Env) (value.Datum, error) {
	var found value.Datum
	for _, a := range n.args {
		d, err := a.Eval(env)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		if found == nil {
			found = d
			continue
		}
		order, err := value.Compare(n.t, d, found)
		if err != nil {
			return nil, err
		}
		if order != 0 && (order > 0) == n.greatest {
			found = d
		}
	}
	return found, nil
}

func isConst(e Expr) bool {
	_, ok := e.(*Const)
	return ok
}

func (c *Compiler) list(name string, nodes []*pg.Node) ([]Expr, *value.Type, error) {
	var all []Expr
	var places []int32
	for _, n := range nodes {
		e, err := c.Compile(n)
		if err != nil {
			return nil, nil, err
		}
		all, places = append(all, e), append(places, locationOf(n))
	}
	return c.CommonType(name, all, places)
}

func (c *Compiler) coalesce(n *pg.CoalesceExpr) (Expr, error) {
	all, t, err := c.list("COALESCE", n.Args)
	if err != nil {
		return nil, err
	}
	return c.foldCoalesce(&coalesce{t, all}), nil
}

func (c *Compiler) minMax(n *pg.MinMaxExpr) (Expr, error) {
	greatest, name := n.Op == pg.MinMaxOp_IS_GREATEST, "LEAST"
	if greatest {
		name = "GREATEST"
	}
	all, t, err := c.list(name, n.Args)
	if err != nil {
		return nil, err
	}
	return c.fold(&minMax{t, all, greatest}), nil
}

// distinct is IS [NOT] DISTINCT FROM.
type distinct struct {
	run         CallFunc
	left, right Expr
	not         bool
}

// Type implements Expr.
func (n *distinct) Type() *value.Type { return value.Bool }

// Children implements Parent.
func (n *distinct) Children() []Expr { return []Expr{n.left, n.right} }

// Eval implements Expr.
func (n *distinct) Eval(env *Env) (value.Datum, error) {
	l, r, err := both(env, n.left, n.right)
	if err != nil {
		return nil, err
	}
	if l == nil || r == nil {
		return ((l == nil) == (r == nil)) == n.not, nil
	}
	same, err := n.run(env, []value.Datum{l, r})
	if err != nil {
		return nil, err
	}
	return (same == true) == n.not, nil
}

func both(env *Env, left, right Expr) (l, r value.Datum, err error) {
	if l, err = left.Eval(env); err != nil {
		return nil, nil, err
	}
	r, err = right.Eval(env)
	return l, r, err
}

// nullIf is NULLIF.
type nullIf struct {
	run         CallFunc
	left, right Expr
}

// Type implements Expr.
func (n *nullIf) Type() *value.Type { return n.left.Type() }

// Children implements Parent.
func (n *nullIf) Children() []Expr { return []Expr{n.left, n.right} }

// Eval implements Expr.
func (n *nullIf) Eval(env *Env) (value.Datum, error) {
	l, r, err := both(env, n.left, n.right)
	if err != nil || l == nil || r == nil {
		return l, err
	}
	same, err := n.run(env, []value.Datum{l, r})
	if err != nil || same == true {
		return nil, err
	}
	return l, nil
}
