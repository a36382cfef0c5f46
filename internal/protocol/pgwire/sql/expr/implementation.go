package expr

import (
	"iter"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// implementation is what is behind a built-in function or operator; one of its fields is set. It is found by the name of PostgreSQL's own C
// function, so what PostgreSQL has under several names is written once here, too.
type implementation struct {
	call      func(env *Env, a []value.Datum) (value.Datum, error)
	rows      func(env *Env, a []value.Datum) iter.Seq2[[]value.Datum, error]
	aggregate func() Aggregator
	bind      func(args []*value.Type, returns *value.Type) (Bound, error)
}

// implementations is filled by the init functions of the families' files.
var implementations = map[string]implementation{}

type (
	callFunc = func(env *Env, a []value.Datum) (value.Datum, error)
	rowsFunc = func(env *Env, a []value.Datum) iter.Seq2[[]value.Datum, error]
	bindFunc = func(args []*value.Type, returns *value.Type) (Bound, error)
)

func calls(all map[string]callFunc) {
	for name, f := range all {
		implementations[name] = implementation{call: f}
	}
}

func binds(all map[string]bindFunc) {
	for name, f := range all {
		implementations[name] = implementation{bind: f}
	}
}

func sets(all map[string]rowsFunc) {
	for name, f := range all {
		implementations[name] = implementation{rows: f}
	}
}

// bindImplementation puts what is behind a built-in function into it. A name with its arguments' types goes before the name alone.
func bindImplementation(fn *Function) {
	name := fn.impl
	if fn.kind == 'a' {
		name = aggregatePrefix + fn.Name
	}
	impl, ok := implementations[name+signature(fn)]
	if !ok {
		impl, ok = implementations[name]
	}
	if !ok {
		if cast := castFunction(fn); cast != nil {
			fn.Call = cast
		}
		return
	}
	fn.Call, fn.Rows, fn.Aggregate, fn.Bind = impl.call, impl.rows, impl.aggregate, impl.bind
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

// aggregatePrefix is before the names of aggregates among the implementations: one may be a function's too.
const aggregatePrefix = "aggregate "

// castFunction makes the function of a cast, say int4(float8), of value.Cast.
func castFunction(fn *Function) callFunc {
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

// bound returns what is run for a call with arguments of these types. spread tells that VARIADIC array was given.
func (f *Function) bound(args []*value.Type, returns *value.Type, spread bool) (Bound, error) {
	if impl, ok := implementations[f.impl+variadicForm]; ok && spread && f.impl != "" {
		return impl.bind(args, returns)
	}
	if f.Bind != nil {
		return f.Bind(args, returns)
	}
	if !f.callable() {
		return Bound{}, pgerror.New(pgerror.FeatureNotSupported, "function %s is not supported", describeCall(f.Name, args, nil))
	}
	return Bound{Call: f.Call, Rows: f.Rows, Aggregate: f.Aggregate}, nil
}
