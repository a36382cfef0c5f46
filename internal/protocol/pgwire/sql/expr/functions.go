package expr

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// callShape is a way to call a function with the given arguments.
type callShape struct {
	fn       *Function
	slots    []int // for each declared argument, the index of the given argument; -1: its default
	variadic bool  // the last given arguments are packed into an array, or passed one by one for VARIADIC "any"
}

// arguments are the compiled arguments of a call, in the order given.
type arguments struct {
	all      []Expr
	names    []string    // "" for positional arguments, which come first
	variadic bool        // VARIADIC array
	row      *value.Type // of the result, if it is a record whose columns the statement defines; nil: it does not
}

// call compiles a function call.
func (c *Compiler) call(n *pg.FuncCall) (Expr, error) {
	schema, name := splitName(n.Funcname)
	given, err := c.arguments(n)
	if err != nil {
		return nil, err
	}
	if n.Over != nil {
		return nil, c.refuse("window functions are not supported", n.Location)
	}
	if n.AggWithinGroup {
		return nil, c.refuse("WITHIN GROUP is not supported", n.Location)
	}
	if field, ok := fieldAsFunction(schema, name, given); ok && len(c.overloads(schema, name)) == 0 {
		return field, nil
	}
	shape, cast, err := c.chooseFunction(schema, name, given, n.Location)
	if err != nil {
		return nil, err
	}
	if cast != nil {
		return c.castCall(given.all[0], cast, n)
	}
	if !shape.fn.IsAggregate() {
		if err := c.onlyForAggregates(n, name); err != nil {
			return nil, err
		}
	}
	return c.callOf(shape, given, n)
}

// arguments compiles the arguments of a call.
func (c *Compiler) arguments(n *pg.FuncCall) (given arguments, err error) {
	given.variadic, given.row, c.rows = n.FuncVariadic, c.rows, nil
	for _, a := range n.Args {
		name := ""
		if named := a.GetNamedArgExpr(); named != nil {
			name, a = named.Name, named.Arg
			if slices.Contains(given.names, name) {
				return given, pgerror.New(pgerror.SyntaxError, "argument name \"%s\" used more than once", name).At(c.Text, named.Location)
			}
		} else if len(given.names) > 0 && given.names[len(given.names)-1] != "" {
			return given, pgerror.New(pgerror.SyntaxError, "positional argument cannot follow named argument").At(c.Text, locationOf(a))
		}
		e, err := c.Compile(a)
		if err != nil {
			return given, err
		}
		if _, param := e.(*Param); param && e.Type() == value.Void {
			continue // drivers give the result of a call this name; PostgreSQL drops it, too
		}
		given.all, given.names = append(given.all, e), append(given.names, name)
	}
	return given, nil
}

// onlyForAggregates returns an error for syntax that is valid only in an aggregate call.
func (c *Compiler) onlyForAggregates(n *pg.FuncCall, name string) error {
	wrong := func(what string) error {
		return pgerror.New(pgerror.WrongObjectType, "%s specified, but %s is not an aggregate function", what, name).At(c.Text, n.Location)
	}
	switch {
	case n.AggStar:
		return pgerror.New(pgerror.WrongObjectType, "%s(*) specified, but %s is not an aggregate function", name, name).At(c.Text, n.Location)
	case n.AggDistinct:
		return wrong("DISTINCT")
	case len(n.AggOrder) > 0:
		return wrong("ORDER BY")
	case n.AggFilter != nil:
		return wrong("FILTER")
	}
	return nil
}

func splitName(names []*pg.Node) (schema, name string) {
	name = names[len(names)-1].GetString_().GetSval()
	if len(names) > 1 {
		schema = names[len(names)-2].GetString_().GetSval()
	}
	return schema, name
}

// fieldAsFunction handles f(x) as x.f.
func fieldAsFunction(schema, name string, given arguments) (Expr, bool) {
	if schema != "" || len(given.all) != 1 || given.names[0] != "" || given.variadic {
		return nil, false
	}
	return fieldOf(given.all[0], name)
}

// overloads returns the functions with the given name: the built-in ones and those of the schemas.
// A schema's function replaces a built-in function with the same arguments if the latter cannot be
// called.
func (c *Compiler) overloads(schema, name string) []*Function {
	var all []*Function
	for _, f := range c.Library.Functions(name) {
		if schema == "" || schema == f.Schema {
			all = append(all, f)
		}
	}
	if c.Functions == nil {
		return all
	}
	more := c.Functions(schema, name)
	if len(more) == 0 {
		return all
	}
	kept := all[:0]
	for _, f := range all {
		if f.callable() || !hasSame(more, f) {
			kept = append(kept, f)
		}
	}
	return append(kept, more...)
}

func hasSame(all []*Function, f *Function) bool {
	for _, other := range all {
		if signature(other) == signature(f) {
			return true
		}
	}
	return false
}

// chooseFunction returns the function that a call refers to, or the type to which a call with one
// argument converts.
func (c *Compiler) chooseFunction(schema, name string, given arguments, location int32) (*callShape, *value.Type, error) {
	actual := typesOf(given.all)
	all := candidatesOf(c.overloads(schema, name), given)
	for i, k := range all {
		if sameTypes(actual, k.types) {
			return all[i].call, nil, nil
		}
	}
	if t := c.castByName(schema, name, given); t != nil {
		return nil, t, nil
	}
	kept := matching(actual, all)
	if hasUntypedParam(given.all) {
		kept = unyielding(kept)
	}
	switch len(kept) {
	case 0:
		return nil, nil, c.noFunction(schema, name, given, location)
	case 1:
		return kept[0].call, nil, nil
	}
	if chosen := selectCandidate(actual, kept); chosen != nil {
		return chosen.call, nil, nil
	}
	if kept = unyielding(kept); len(kept) == 1 {
		return kept[0].call, nil, nil
	}
	return nil, nil, pgerror.New(pgerror.AmbiguousFunction, "function %s is not unique", describeCall(qualified(schema, name), actual, given.names)).
		WithHint("Could not choose a best candidate function. You might need to add explicit type casts.").At(c.Text, location)
}

func hasUntypedParam(given []Expr) bool {
	return slices.ContainsFunc(given, func(e Expr) bool {
		_, param := e.(*Param)
		return param && e.Type() == value.Unknown
	})
}

// unyielding drops the candidates that yield, unless all do.
func unyielding(all []candidate) []candidate {
	var kept []candidate
	for _, c := range all {
		if !c.call.fn.Yields {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return all
	}
	return kept
}

func (c *Compiler) noFunction(schema, name string, given arguments, location int32) error {
	if schema != "" && c.Schema != nil && !c.Schema(schema) {
		return pgerror.New(pgerror.InvalidSchema, "schema \"%s\" does not exist", schema).At(c.Text, location)
	}
	described := describeCall(qualified(schema, name), typesOf(given.all), given.names)
	return pgerror.New(pgerror.UndefinedFunction, "function %s does not exist", described).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.").At(c.Text, location)
}

func qualified(schema, name string) string {
	if schema == "" {
		return name
	}
	return schema + "." + name
}

// describeCall formats a call for errors: "f(integer, a => text)".
func describeCall(name string, actual []*value.Type, names []string) string {
	parts := make([]string, len(actual))
	for i, t := range actual {
		parts[i] = t.String()
		if i < len(names) && names[i] != "" {
			parts[i] = fmt.Sprintf("%s => %s", names[i], t)
		}
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func sameTypes(a, b []*value.Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// castByName returns the type that a call names if it is a conversion: int4(x).
func (c *Compiler) castByName(schema, name string, given arguments) *value.Type {
	if len(given.all) != 1 || given.names[0] != "" || given.variadic {
		return nil
	}
	t := c.findType(schema, name)
	if t == nil {
		return nil
	}
	from := given.all[0].Type()
	if from == value.Unknown {
		return t
	}
	switch findPathway(from, t, explicit) {
	case relabel:
		return t
	case byText:
		if (from.IsRow()) && t.Category == 'S' {
			return nil
		}
		return t
	}
	return nil
}

func (c *Compiler) castCall(e Expr, t *value.Type, n *pg.FuncCall) (Expr, error) {
	made, err := c.coerceTo(e, t, -1, explicit)
	if err == nil && made == nil {
		err = pgerror.New(pgerror.CannotCoerce, "cannot cast type %s to %s", e.Type(), t).At(c.Text, n.Location)
	}
	return made, err
}
