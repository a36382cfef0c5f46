package expr

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// spread expands a VARIADIC array that is passed for "any" arguments into single arguments.
func spread(t *value.Type, d value.Datum) ([]*value.Type, []value.Datum) {
	a, ok := d.(*value.Array)
	if !ok {
		return nil, nil
	}
	types := make([]*value.Type, len(a.Elems))
	for i := range types {
		types[i] = t.Elem
	}
	return types, a.Elems
}

// OverAny adds the two forms of a function that takes any number of arguments of any type after
// fixed leading arguments.
func (to Table) OverAny(name string, fixed int, f func(env *Env, fixed []value.Datum, types []*value.Type, all []value.Datum) (value.Datum, error)) {
	to[name] = Implementation{Bind: func(types []*value.Type, _ *value.Type) (Bound, error) {
		return Bound{Call: func(env *Env, a []value.Datum) (value.Datum, error) {
			return f(env, a[:fixed], types[fixed:], a[fixed:])
		}}, nil
	}}
	to[name+variadicForm] = Implementation{Bind: func(types []*value.Type, _ *value.Type) (Bound, error) {
		last := types[len(types)-1]
		if !last.IsArray() && last != value.Unknown {
			return Bound{}, pgerror.New(pgerror.DatatypeMismatch, "VARIADIC argument must be an array")
		}
		return Bound{Call: func(env *Env, a []value.Datum) (value.Datum, error) {
			if a[fixed] == nil {
				return nil, nil
			}
			spreadTypes, all := spread(last, a[fixed])
			return f(env, a[:fixed], spreadTypes, all)
		}}, nil
	}}
}

// variadicForm marks the implementation for a VARIADIC array passed for "any" arguments.
const variadicForm = " variadic"
