package expr

import (
	"fmt"
	"iter"
	"maps"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Implementation is the implementation of a built-in function or operator; one of its fields is
// set.
type Implementation struct {
	Call      CallFunc
	Rows      RowsFunc
	Aggregate func() Aggregator
	Bind      BindFunc
}

// Table maps the names of PostgreSQL's C functions to implementations, so that a function with
// several SQL names is implemented once. The catalog has the remaining properties of a function:
// arguments, result, volatility. A name followed by argument types, "sum(int4)", takes precedence
// over the bare name.
type Table map[string]Implementation

type (
	// CallFunc returns the value of a call. It must not keep a.
	CallFunc = func(env *Env, a []value.Datum) (value.Datum, error)
	// RowsFunc returns the rows of a call.
	RowsFunc = func(env *Env, a []value.Datum) iter.Seq2[[]value.Datum, error]
	// BindFunc returns a function for the given argument and result types.
	BindFunc = func(args []*value.Type, returns *value.Type) (Bound, error)
)

// Calls adds functions that return a value.
func (to Table) Calls(all map[string]CallFunc) {
	for name, f := range all {
		to[name] = Implementation{Call: f}
	}
}

// Binds adds functions that are specialized to their argument types.
func (to Table) Binds(all map[string]BindFunc) {
	for name, f := range all {
		to[name] = Implementation{Bind: f}
	}
}

// Sets adds functions that return rows.
func (to Table) Sets(all map[string]RowsFunc) {
	for name, f := range all {
		to[name] = Implementation{Rows: f}
	}
}

// NewLibrary returns a library of the tables. It panics if a name occurs in two of them.
func NewLibrary(tables ...Table) *Library {
	l := &Library{implementations: Table{}}
	for _, t := range tables {
		for name := range t {
			if _, twice := l.implementations[name]; twice {
				panic(fmt.Sprintf("function %s is there twice", name))
			}
		}
		maps.Copy(l.implementations, t)
	}
	return l
}

// implement attaches the implementation to a built-in function.
func (l *Library) implement(fn *Function) {
	name := fn.impl
	if fn.kind == 'a' {
		name = AggregatePrefix + fn.Name
	}
	fn.spread = l.implementations[fn.impl+variadicForm].Bind
	impl, ok := l.implementations[name+signature(fn)]
	if !ok {
		impl, ok = l.implementations[name]
	}
	if !ok {
		if cast := castFunction(fn); cast != nil {
			fn.Call = cast
		}
		return
	}
	fn.Call, fn.Rows, fn.Aggregate, fn.Bind = impl.Call, impl.Rows, impl.Aggregate, impl.Bind
}

// signature returns the argument types of a function: "(int4,text)".
func signature(fn *Function) string {
	s := "("
	for i, a := range fn.Args {
		if i > 0 {
			s += ","
		}
		s += a.Type.Name
	}
	return s + ")"
}

// AggregatePrefix precedes the names of aggregates in a table, because a function may have the same
// name.
const AggregatePrefix = "aggregate "

// castFunction implements the function of a cast, such as int4(float8), with value.Cast.
func castFunction(fn *Function) CallFunc {
	if len(fn.Args) != 1 || fn.kind != 'f' {
		return nil
	}
	from, to := fn.Args[0].Type, fn.Returns
	c, ok := castBetween(from, to)
	if !ok || c.function != fn.impl {
		return nil
	}
	return func(env *Env, a []value.Datum) (value.Datum, error) {
		return value.Cast(from, to, a[0], -1, true, env.settings())
	}
}

// bound returns the implementation for a call with these argument types. spread is set if the call
// passes a VARIADIC array.
func (f *Function) bound(args []*value.Type, returns *value.Type, spread bool) (Bound, error) {
	if spread && f.spread != nil {
		return f.spread(args, returns)
	}
	if f.Bind != nil {
		return f.Bind(args, returns)
	}
	if !f.callable() {
		return Bound{}, pgerror.New(pgerror.FeatureNotSupported, "function %s is not supported", describeCall(f.Name, args, nil))
	}
	return Bound{Call: f.Call, Rows: f.Rows, Aggregate: f.Aggregate}, nil
}
