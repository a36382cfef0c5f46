package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// candidatesOf returns the ways to call the functions with the given number and names of arguments.
// If two ways have the same types, the one that packs no array wins, then the earlier function.
func candidatesOf(all []*Function, given arguments) []candidate {
	var found []candidate
	for _, f := range all {
		shape := shapeOf(f, given)
		if shape == nil {
			continue
		}
		k := candidate{types: shape.types(len(given.all)), call: shape}
		if i := indexOfTypes(found, k.types); i < 0 {
			found = append(found, k)
		} else if found[i].call.variadic && !shape.variadic {
			found[i] = k
		}
	}
	return found
}

func indexOfTypes(all []candidate, types []*value.Type) int {
	for i, k := range all {
		if sameTypes(k.types, types) {
			return i
		}
	}
	return -1
}

// shapeOf returns how f can be called with the arguments, or nil if it cannot.
func shapeOf(f *Function, given arguments) *callShape {
	n := len(given.all)
	named := n > 0 && given.names[n-1] != ""
	switch {
	case given.variadic && !f.Variadic:
		return nil
	case named:
		if f.Variadic && !given.variadic {
			return nil
		}
		return namedShape(f, given)
	case f.Variadic && !given.variadic && len(f.Args) <= n:
		s := &callShape{fn: f, variadic: true}
		for i := range f.Args {
			s.slots = append(s.slots, i)
		}
		return s
	case len(f.Args) < n:
		return nil
	}
	s := &callShape{fn: f}
	for i, a := range f.Args {
		switch {
		case i < n:
			s.slots = append(s.slots, i)
		case a.HasDefault:
			s.slots = append(s.slots, -1)
		default:
			return nil
		}
	}
	return s
}

// namedShape returns the shape of a call with named arguments.
func namedShape(f *Function, given arguments) *callShape {
	if len(given.all) > len(f.Args) {
		return nil
	}
	s := &callShape{fn: f, slots: make([]int, len(f.Args))}
	for i := range s.slots {
		s.slots[i] = -1
	}
	for i, name := range given.names {
		place := i
		if name != "" {
			place = -1
			for j, a := range f.Args {
				if a.Name == name {
					place = j
				}
			}
		}
		if place < 0 || s.slots[place] >= 0 {
			return nil
		}
		s.slots[place] = i
	}
	for i, a := range f.Args {
		if s.slots[i] < 0 && !a.HasDefault {
			return nil
		}
	}
	return s
}

// types returns the declared types of the n given arguments, in the order given.
func (s *callShape) types(n int) []*value.Type {
	types := make([]*value.Type, n)
	for i, slot := range s.slots {
		if slot >= 0 {
			types[slot] = s.fn.Args[i].Type
		}
	}
	if s.variadic {
		for i := len(s.fn.Args) - 1; i < n; i++ {
			types[i] = elementOf(s.fn.Args[len(s.fn.Args)-1].Type)
		}
	}
	return types
}

// elementOf returns the type of the single arguments of a variadic array.
func elementOf(t *value.Type) *value.Type {
	switch t {
	case value.AnyArray:
		return value.AnyElement
	case value.AnyCompatArray:
		return value.AnyCompatible
	case value.Any:
		return t
	}
	return t.Elem
}

// callOf returns the call of the chosen function.
func (c *Compiler) callOf(s *callShape, given arguments, n *pg.FuncCall) (Expr, error) {
	declared := s.types(len(given.all))
	types, returns, err := s.resolve(given.all, declared)
	if err != nil {
		return nil, err
	}
	if given.row != nil && isRecord(returns) && len(s.fn.Columns) == 0 {
		returns = given.row
	}
	args, err := c.coerceAll(given.all, types)
	if err != nil {
		return nil, err
	}
	args, err = c.arrange(s, args)
	if err != nil {
		return nil, at(err, c.Text, n.Location)
	}
	run, err := s.fn.bound(typesOf(args), returns, given.variadic)
	if err != nil {
		return nil, at(err, c.Text, n.Location)
	}
	if !s.fn.IsAggregate() && !s.fn.IsSet() {
		made := newCall(run.Call, args, returns, s.fn.Strict, inlined(s.fn.impl, s.fn.Volatility, args))
		made.later = s.fn.Later
		return c.foldCall(made), nil
	}
	made := *s.fn
	made.Returns, made.Bind = returns, nil
	made.Call, made.Rows, made.Aggregate = run.Call, run.Rows, run.Aggregate
	return c.special(&made, args, n)
}

// resolve replaces polymorphic types. VARIADIC "any" receives an array unchanged.
func (s *callShape) resolve(all []Expr, declared []*value.Type) ([]*value.Type, *value.Type, error) {
	return resolvePolymorphic(typesOf(all), declared, s.fn.Returns)
}

// special passes aggregates and set-returning functions to the statement.
func (c *Compiler) special(fn *Function, args []Expr, n *pg.FuncCall) (Expr, error) {
	if fn.IsAggregate() {
		if c.Aggregate == nil {
			return nil, pgerror.New(pgerror.GroupingError, "aggregate functions are not allowed here").At(c.Text, n.Location)
		}
		return c.Aggregate(n, fn, args)
	}
	if c.RowSet == nil {
		return nil, c.refuse("set-returning functions are not allowed here", n.Location)
	}
	return c.RowSet(n, fn, args)
}

// arrange orders the arguments as declared, adds defaults, and packs variadic arguments.
func (c *Compiler) arrange(s *callShape, given []Expr) ([]Expr, error) {
	var args []Expr
	for i, slot := range s.slots {
		if s.variadic && i == len(s.slots)-1 {
			break
		}
		if slot >= 0 {
			args = append(args, given[slot])
			continue
		}
		a := s.fn.Args[i]
		args = append(args, NewConst(a.Type, a.Default))
	}
	if !s.variadic {
		return args, nil
	}
	rest := given[len(s.slots)-1:]
	if s.fn.Args[len(s.fn.Args)-1].Type == value.Any {
		return append(args, rest...), nil
	}
	t, err := arrayOf(rest[0].Type())
	if err != nil {
		return nil, err
	}
	return append(args, c.fold(&arrayNode{t: t, elems: rest})), nil
}
