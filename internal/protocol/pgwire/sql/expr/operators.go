package expr

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// findOperator returns the operator for a name and operand types. left is nil for a prefix
// operator.
func (c *Compiler) findOperator(name string, left, right *value.Type, location int32) (*Operator, error) {
	short := name[strings.LastIndexByte(name, '.')+1:]
	actual := []*value.Type{right}
	if left != nil {
		actual = []*value.Type{left, right}
	}
	var all []candidate
	for _, o := range c.Library.operatorsNamed(short) {
		if (o.Left == nil) == (left == nil) {
			all = append(all, candidate{types: o.types(), op: o})
		}
	}
	if o := exactOperator(all, actual); o != nil {
		return o, nil
	}
	kept := matching(actual, all)
	switch len(kept) {
	case 0:
		return nil, c.noOperator(name, actual, location)
	case 1:
		return kept[0].op, nil
	}
	if chosen := selectCandidate(actual, kept); chosen != nil {
		return chosen.op, nil
	}
	return nil, pgerror.New(pgerror.AmbiguousFunction, "operator is not unique: %s", describeOperator(name, actual)).
		WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.").At(c.Text, location)
}

// exactOperator returns the operator with exactly these types. An untyped constant is assumed to
// have the type of the other operand.
func exactOperator(all []candidate, actual []*value.Type) *Operator {
	types := actual
	if len(actual) == 2 {
		switch {
		case actual[0] == value.Unknown && actual[1] != value.Unknown:
			types = []*value.Type{actual[1], actual[1]}
		case actual[1] == value.Unknown && actual[0] != value.Unknown:
			types = []*value.Type{actual[0], actual[0]}
		}
	}
	for _, k := range all {
		if k.types[0] == types[0] && (len(types) == 1 || k.types[1] == types[1]) {
			return k.op
		}
	}
	return nil
}

func (c *Compiler) noOperator(name string, actual []*value.Type, location int32) error {
	err := pgerror.New(pgerror.UndefinedFunction, "operator does not exist: %s", describeOperator(name, actual)).At(c.Text, location)
	if len(actual) == 1 {
		return err.WithHint("No operator matches the given name and argument type. You might need to add an explicit type cast.")
	}
	return err.WithHint("No operator matches the given name and argument types. You might need to add explicit type casts.")
}

func describeOperator(name string, actual []*value.Type) string {
	if len(actual) == 1 {
		return name + " " + actual[0].String()
	}
	return actual[0].String() + " " + name + " " + actual[1].String()
}

// operator compiles "left name right". left is nil for a prefix operator.
func (c *Compiler) operator(name string, left, right Expr, location int32) (Expr, error) {
	var leftType *value.Type
	args := []Expr{right}
	if left != nil {
		leftType = left.Type()
		args = []Expr{left, right}
	}
	op, err := c.findOperator(name, leftType, right.Type(), location)
	if err != nil {
		return nil, err
	}
	return c.operatorCall(op, args, location)
}

// operatorCall returns the call of the chosen operator.
func (c *Compiler) operatorCall(op *Operator, args []Expr, location int32) (Expr, error) {
	types, returns, err := resolvePolymorphic(typesOf(args), op.types(), op.Returns)
	if err != nil {
		return nil, err
	}
	args, err = c.coerceAll(args, types)
	if err != nil {
		return nil, err
	}
	run, err := op.bound(typesOf(args), returns)
	if err != nil {
		return nil, at(err, c.Text, location)
	}
	return c.foldCall(newCall(run, args, returns, op.Strict, inlined(op.impl, op.Volatility, args))), nil
}

// inlined returns the volatility of a function that PostgreSQL replaces with its body, x::text,
// which depends on the session for some types only.
func inlined(impl string, declared Volatility, args []Expr) Volatility {
	switch impl {
	case "textanycat", "anytextcat", "quote_literal", "quote_nullable":
	default:
		return declared
	}
	for _, a := range args {
		if stableCast(a.Type(), value.Text) {
			return Stable
		}
	}
	return Immutable
}

// bound returns the implementation for operands of these types.
func (o *Operator) bound(args []*value.Type, returns *value.Type) (CallFunc, error) {
	if compare := comparison(o, args); compare != nil {
		return compare, nil
	}
	if o.run.Bind != nil {
		b, err := o.run.Bind(args, returns)
		return b.Call, err
	}
	if o.run.Call == nil {
		return nil, pgerror.New(pgerror.FeatureNotSupported, "operator %s is not supported", describeOperator(o.Name, args))
	}
	return o.run.Call, nil
}

func typesOf(all []Expr) []*value.Type {
	types := make([]*value.Type, len(all))
	for i, e := range all {
		types[i] = e.Type()
	}
	return types
}

// coerceAll converts arguments to the types of the chosen function or operator.
func (c *Compiler) coerceAll(args []Expr, types []*value.Type) ([]Expr, error) {
	made := make([]Expr, len(args))
	for i, e := range args {
		var err error
		if made[i], err = c.coerce(e, types[i], implicit); err != nil {
			return nil, err
		}
		if made[i] == nil {
			return nil, pgerror.New(pgerror.CannotCoerce, "cannot cast type %s to %s", e.Type(), types[i])
		}
	}
	return made, nil
}

func operatorName(names []*pg.Node) string {
	var parts []string
	for _, n := range names {
		parts = append(parts, n.GetString_().GetSval())
	}
	return strings.Join(parts, ".")
}
