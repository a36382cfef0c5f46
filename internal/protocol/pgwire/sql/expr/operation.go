package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// operation compiles what the parser represents as an operator.
func (c *Compiler) operation(n *pg.A_Expr) (Expr, error) {
	switch n.Kind {
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR:
		return c.plainOperation(n)
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		left, right, err := c.pair(n.Lexpr, n.Rexpr)
		if err != nil {
			return nil, err
		}
		return c.arrayOperation(operatorName(n.Name), n.Kind == pg.A_Expr_Kind_AEXPR_OP_ANY, left, right, n.Location)
	case pg.A_Expr_Kind_AEXPR_DISTINCT:
		return c.distinct(n, false)
	case pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return c.distinct(n, true)
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return c.nullIf(n)
	case pg.A_Expr_Kind_AEXPR_IN:
		return c.in(n)
	case pg.A_Expr_Kind_AEXPR_BETWEEN:
		return c.between(n, false, false)
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return c.between(n, true, false)
	case pg.A_Expr_Kind_AEXPR_BETWEEN_SYM:
		return c.between(n, false, true)
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return c.between(n, true, true)
	}
	return nil, c.refuse("expression is not supported", n.Location)
}

func (c *Compiler) pair(l, r *pg.Node) (left, right Expr, err error) {
	if left, err = c.Compile(l); err != nil {
		return nil, nil, err
	}
	right, err = c.Compile(r)
	return left, right, err
}

func (c *Compiler) plainOperation(n *pg.A_Expr) (Expr, error) {
	name := operatorName(n.Name)
	if n.Lexpr == nil {
		right, err := c.Compile(n.Rexpr)
		if err != nil {
			return nil, err
		}
		return c.operator(name, nil, right, n.Location)
	}
	if n.Lexpr.GetRowExpr() != nil && n.Rexpr.GetSubLink() != nil {
		return nil, c.refuse("comparing a row with a sub-select is not supported", n.Location)
	}
	left, right, err := c.pair(n.Lexpr, n.Rexpr)
	if err != nil {
		return nil, err
	}
	return c.compared(name, left, right, n.Location)
}

// compared compiles an operator applied to two values, or field by field to two row constructors.
func (c *Compiler) compared(name string, left, right Expr, location int32) (Expr, error) {
	l, lok := left.(*row)
	r, rok := right.(*row)
	if lok && rok {
		return c.compareRows(name, l.fields, r.fields, location)
	}
	return c.operator(name, left, right, location)
}

// compareRows compiles (a, b) op (c, d).
func (c *Compiler) compareRows(name string, left, right []Expr, location int32) (Expr, error) {
	if len(left) != len(right) {
		return nil, pgerror.New(pgerror.SyntaxError, "unequal number of entries in row expressions").At(c.Text, location)
	}
	if len(left) == 0 {
		return nil, c.refuse("cannot compare rows of zero length", location)
	}
	if len(left) == 1 {
		return c.operator(name, left[0], right[0], location)
	}
	switch name {
	case "=", "<>", "<", "<=", ">", ">=":
	default:
		return nil, c.refuse("could not determine interpretation of row comparison operator %s", location, name)
	}
	each := func(op string) ([]Expr, error) {
		made := make([]Expr, len(left))
		for i := range left {
			var err error
			if made[i], err = c.operator(op, left[i], right[i], location); err != nil {
				return nil, err
			}
		}
		return made, nil
	}
	if name == "=" || name == "<>" {
		made, err := each(name)
		if err != nil {
			return nil, err
		}
		return c.foldLogic(name == "<>", made), nil
	}
	smaller, err := each(name[:1])
	if err != nil {
		return nil, err
	}
	equal, err := each("=")
	if err != nil {
		return nil, err
	}
	return c.fold(&rowOrder{before: smaller, equal: equal, whenEqual: len(name) == 2}), nil
}

// distinct compiles IS [NOT] DISTINCT FROM.
func (c *Compiler) distinct(n *pg.A_Expr, not bool) (Expr, error) {
	left, right, err := c.pair(n.Lexpr, n.Rexpr)
	if err != nil {
		return nil, err
	}
	for i, e := range []Expr{right, left} {
		if k, ok := e.(*Const); ok && k.T == value.Unknown && k.Value == nil {
			return c.fold(&isNull{arg: []Expr{left, right}[i], not: !not}), nil
		}
	}
	l, lok := left.(*row)
	r, rok := right.(*row)
	if !lok || !rok {
		return c.distinctPair(left, right, not, n.Location)
	}
	if len(l.fields) != len(r.fields) {
		return nil, pgerror.New(pgerror.SyntaxError, "unequal number of entries in row expressions").At(c.Text, n.Location)
	}
	var all []Expr
	for i := range l.fields {
		e, err := c.distinctPair(l.fields[i], r.fields[i], not, n.Location)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return c.foldLogic(!not, all), nil
}

func (c *Compiler) distinctPair(left, right Expr, not bool, location int32) (Expr, error) {
	eq, args, err := c.equality(left, right, "IS DISTINCT FROM requires = operator to yield boolean", location)
	if err != nil {
		return nil, err
	}
	return c.fold(&distinct{run: eq, left: args[0], right: args[1], not: not}), nil
}

// equality returns the operator = for two expressions, and the expressions converted to its types.
func (c *Compiler) equality(left, right Expr, notBool string, location int32) (CallFunc, []Expr, error) {
	op, err := c.findOperator("=", left.Type(), right.Type(), location)
	if err != nil {
		return nil, nil, err
	}
	if op.Returns != value.Bool {
		return nil, nil, pgerror.New(pgerror.DatatypeMismatch, "%s", notBool).At(c.Text, location)
	}
	args := []Expr{left, right}
	types, returns, err := resolvePolymorphic(typesOf(args), op.types(), op.Returns)
	if err != nil {
		return nil, nil, at(err, c.Text, location)
	}
	if args, err = c.coerceAll(args, types); err != nil {
		return nil, nil, err
	}
	run, err := op.bound(typesOf(args), returns)
	return run, args, at(err, c.Text, location)
}

func (c *Compiler) nullIf(n *pg.A_Expr) (Expr, error) {
	left, right, err := c.pair(n.Lexpr, n.Rexpr)
	if err != nil {
		return nil, err
	}
	eq, args, err := c.equality(left, right, "NULLIF requires = operator to yield boolean", n.Location)
	if err != nil {
		return nil, err
	}
	made := c.fold(&nullIf{run: eq, left: args[0], right: args[1]})
	if isDoomed(made) {
		return made, nil
	}
	for _, a := range args {
		if d, known := IsConst(a); known && d == nil {
			return args[0], nil // NULLIF with NULL returns the first argument
		}
	}
	return made, nil
}

// in compiles x [NOT] IN (a, b, ...). Two or more values without columns are compared as one array.
func (c *Compiler) in(n *pg.A_Expr) (Expr, error) {
	name := operatorName(n.Name)
	any := name != "<>"
	left, err := c.Compile(n.Lexpr)
	if err != nil {
		return nil, err
	}
	var fixed, rest []Expr
	for _, item := range n.Rexpr.GetList().GetItems() {
		e, err := c.Compile(item)
		if err != nil {
			return nil, err
		}
		if hasColumn(e) {
			rest = append(rest, e)
		} else {
			fixed = append(fixed, e)
		}
	}
	var parts []Expr
	if made, err := c.inArray(name, any, left, fixed, n.Location); err != nil {
		return nil, err
	} else if made != nil {
		parts = append(parts, made)
	} else {
		rest = append(fixed, rest...)
	}
	for _, e := range rest {
		made, err := c.compared(name, left, e, n.Location)
		if err != nil {
			return nil, err
		}
		if made, err = c.toBool(made, "IN", n.Location); err != nil {
			return nil, err
		}
		parts = append(parts, made)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return c.foldLogic(any, parts), nil
}

// hasColumn reports whether an expression depends on a row.
func hasColumn(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		switch e.(type) {
		case *Const, *Param, *cast, *retyped, *call, *row, *arrayNode, *caseNode, *coalesce, *logic, *not, *isNull, *isBool, *distinct, *nullIf,
			*minMax, *anyAll, *doomed, *caseTest, *field, *subscript, *rowOrder, *sessionValue:
		default:
			found = true
		}
		return !found
	})
	return found
}

// inArray compares left with the values as one array. It returns nil, nil if there is no common
// type or fewer than two values.
func (c *Compiler) inArray(name string, any bool, left Expr, values []Expr, location int32) (Expr, error) {
	if len(values) < 2 {
		return nil, nil
	}
	all := append([]Expr{left}, values...)
	places := make([]int32, len(all))
	t, err := c.commonType("IN", all, places)
	if err != nil || isRecord(t) || t.Array == nil {
		return nil, nil
	}
	for _, e := range all {
		if !canCoerceOne(e.Type(), t, implicit) {
			return nil, nil
		}
	}
	made, err := c.toCommon("IN", values, t, places[1:])
	if err != nil {
		return nil, err
	}
	return c.arrayOperation(name, any, left, c.fold(&arrayNode{t: t.Array, elems: made}), location)
}

// arrayOperation compiles left op ANY (array) and left op ALL (array).
func (c *Compiler) arrayOperation(name string, any bool, left, right Expr, location int32) (Expr, error) {
	element := value.Unknown
	if t := right.Type(); t != value.Unknown {
		if !t.IsArray() {
			return nil, pgerror.New(pgerror.WrongObjectType, "op ANY/ALL (array) requires array on right side").At(c.Text, location)
		}
		element = t.Elem
	}
	op, err := c.findOperator(name, left.Type(), element, location)
	if err != nil {
		return nil, err
	}
	if op.Returns != value.Bool {
		return nil, pgerror.New(pgerror.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean").At(c.Text, location)
	}
	types, returns, err := resolvePolymorphic([]*value.Type{left.Type(), element}, op.types(), op.Returns)
	if err != nil {
		return nil, at(err, c.Text, location)
	}
	array, err := arrayOf(types[1])
	if err != nil {
		return nil, at(err, c.Text, location)
	}
	args, err := c.coerceAll([]Expr{left, right}, []*value.Type{types[0], array})
	if err != nil {
		return nil, err
	}
	run, err := op.bound(types, returns)
	if err != nil {
		return nil, at(err, c.Text, location)
	}
	return c.fold(&anyAll{run: run, left: args[0], array: args[1], any: any, strict: op.Strict, volatility: op.Volatility}), nil
}

// between compiles the four kinds of BETWEEN as the equivalent comparisons. The left side is
// compiled for each of them.
func (c *Compiler) between(n *pg.A_Expr, not, symmetric bool) (Expr, error) {
	limits := n.Rexpr.GetList().GetItems()
	within := func(low, high *pg.Node) (Expr, error) {
		ops := [2]string{">=", "<="}
		if not {
			ops = [2]string{"<", ">"}
		}
		var parts []Expr
		for i, limit := range []*pg.Node{low, high} {
			left, right, err := c.pair(n.Lexpr, limit)
			if err != nil {
				return nil, err
			}
			e, err := c.compared(ops[i], left, right, n.Location)
			if err != nil {
				return nil, err
			}
			parts = append(parts, e)
		}
		return c.foldLogic(not, parts), nil
	}
	first, err := within(limits[0], limits[1])
	if err != nil || !symmetric {
		return first, err
	}
	second, err := within(limits[1], limits[0])
	if err != nil {
		return nil, err
	}
	return c.foldLogic(!not, []Expr{first, second}), nil
}
