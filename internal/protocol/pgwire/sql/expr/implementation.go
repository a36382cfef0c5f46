package expr

import (
	"fmt"
	"iter"
	"maps"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Implementation is what is behind a built-in function or operator; one of its fields is set.
type Implementation struct {
	Call      CallFunc
	Rows      RowsFunc
	Aggregate func() Aggregator
	Bind      BindFunc
}

// Table is the implementations of a subject by the names of PostgreSQL's own C functions, so what
// PostgreSQL has under several names is written once here, too. What else there is to know of a
// function (its arguments, its result, its volatility) the catalog knows. A name with the types of
// the arguments behind it, "sum(int4)", goes before the name alone.
type Table map[string]Implementation

type (
	// CallFunc returns the value of a call; it keeps nothing of a.
	CallFunc = func(env *Env, a []value.Datum) (value.Datum, error)
	// RowsFunc returns the rows of a call.
	RowsFunc = func(env *Env, a []value.Datum) iter.Seq2[[]value.Datum, error]
	// BindFunc makes a function for the types of its arguments and of its result.
	BindFunc = func(args []*value.Type, returns *value.Type) (Bound, error)
)

// Calls adds functions of a value.
func (to Table) Calls(all map[string]CallFunc) {
	for name, f := range all {
		to[name] = Implementation{Call: f}
	}
}

// Binds adds functions that are made for the types of their arguments.
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

// NewLibrary makes a library of tables. It panics when two of them have the same name.
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

// implement puts what is behind a built-in function into it.
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

// signature is the types of a function's arguments: "(int4,text)".
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

// AggregatePrefix is before the names of aggregates in a table: one may be a function's too.
const AggregatePrefix = "aggregate "

// castFunction makes the function of a cast, say int4(float8), of value.Cast.
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

// bound returns what is run for a call with arguments of these types. spread tells that VARIADIC
// array was given.
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
