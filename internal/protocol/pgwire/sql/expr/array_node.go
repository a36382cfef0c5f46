package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// arrayNode is ARRAY[...]. When nested, its elements are arrays of the same type.
type arrayNode struct {
	t      *value.Type
	elems  []Expr
	nested bool
}

// Type implements Expr.
func (n *arrayNode) Type() *value.Type { return n.t }

// Children implements Parent.
func (n *arrayNode) Children() []Expr { return n.elems }

// Eval implements Expr.
func (n *arrayNode) Eval(env *Env) (value.Datum, error) {
	values := make([]value.Datum, len(n.elems))
	for i, e := range n.elems {
		var err error
		if values[i], err = e.Eval(env); err != nil {
			return nil, err
		}
	}
	if n.nested {
		return value.NestArrays(n.t.Elem, values)
	}
	return value.NewArray(n.t.Elem, values), nil
}

// array compiles ARRAY[...]. want is the array type from an enclosing cast, or nil.
func (c *Compiler) array(n *pg.A_ArrayExpr, want *value.Type) (Expr, error) {
	made := &arrayNode{}
	var places []int32
	for _, node := range n.Elements {
		var e Expr
		var err error
		if inner := node.GetAArrayExpr(); inner != nil {
			e, err = c.array(inner, want)
			made.nested = true
		} else {
			e, err = c.Compile(node)
		}
		if err != nil {
			return nil, err
		}
		made.nested = made.nested || e.Type().IsArray()
		made.elems, places = append(made.elems, e), append(places, locationOf(node))
	}
	if want != nil {
		return c.arrayOfType(made, want, places)
	}
	if len(made.elems) == 0 {
		return nil, pgerror.New(pgerror.IndeterminateType, "cannot determine type of empty array").
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].").At(c.Text, n.Location)
	}
	elems, t, err := c.CommonType("ARRAY", made.elems, places)
	if err != nil {
		return nil, err
	}
	made.elems, made.t = elems, t
	if made.nested {
		return c.fold(made), nil
	}
	if made.t = value.ArrayOf(t); made.t == nil {
		return nil, pgerror.New(pgerror.UndefinedObject, "could not find array type for data type %s", t).At(c.Text, n.Location)
	}
	return c.fold(made), nil
}

// arrayOfType converts the elements for a cast of the whole array.
func (c *Compiler) arrayOfType(n *arrayNode, want *value.Type, places []int32) (Expr, error) {
	elem := want.Elem
	if n.nested {
		elem = want
	}
	n.t = want
	for i, e := range n.elems {
		made, err := c.coerceTo(e, elem, -1, explicit)
		if err != nil {
			return nil, err
		}
		if made == nil {
			return nil, pgerror.New(pgerror.CannotCoerce, "cannot cast type %s to %s", e.Type(), elem).At(c.Text, places[i])
		}
		n.elems[i] = made
	}
	return c.fold(n), nil
}

// anyAll is left op ANY (array) or left op ALL (array).
type anyAll struct {
	run         CallFunc
	left, array Expr
	any, strict bool
	volatility  Volatility
}

// Type implements Expr.
func (n *anyAll) Type() *value.Type { return value.Bool }

// Children implements Parent.
func (n *anyAll) Children() []Expr { return []Expr{n.left, n.array} }

// Volatility implements Dependent.
func (n *anyAll) Volatility() Volatility { return n.volatility }

// Eval implements Expr.
func (n *anyAll) Eval(env *Env) (value.Datum, error) {
	left, right, err := both(env, n.left, n.array)
	if err != nil || right == nil {
		return nil, err
	}
	elems := right.(*value.Array).Elems
	if len(elems) == 0 {
		return !n.any, nil
	}
	if left == nil && n.strict {
		return nil, nil
	}
	base := len(env.stack)
	env.stack = append(env.stack, left, nil)
	args := env.stack[base : base+2 : base+2]
	defer func() { env.stack = env.stack[:base] }()
	null := false
	for _, e := range elems {
		if e == nil && n.strict {
			null = true
			continue
		}
		args[0], args[1] = left, e
		d, err := n.run(env, args)
		if err != nil {
			return nil, err
		}
		if d == nil {
			null = true
		} else if d.(bool) == n.any {
			return n.any, nil
		}
	}
	if null {
		return nil, nil
	}
	return !n.any, nil
}
