package document

import (
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// appendStripped appends a json without whitespace and without members of objects that are null.
func appendStripped(dst []byte, n *value.JSONNode) []byte {
	switch n.Kind {
	case 'a':
		dst = append(dst, '[')
		for i, e := range n.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendStripped(dst, e)
		}
		return append(dst, ']')
	case 'o':
		dst = append(dst, '{')
		first := true
		for _, m := range n.Members {
			if m.Value.Kind == 'n' {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = appendStripped(append(hstore.AppendJSONString(dst, m.Key), ':'), m.Value)
		}
		return append(dst, '}')
	case 's':
		return hstore.AppendJSONString(dst, n.Text)
	}
	return append(dst, n.Source...)
}

// objectOf returns the object of keys and values that alternate in an array, or are its rows.
func objectOf(t *value.Type) expr.CallFunc {
	return func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		pairs := a[0].(*value.Array)
		switch {
		case len(pairs.Dims) > 2:
			return nil, pgerror.New("2202E", "wrong number of array subscripts")
		case len(pairs.Dims) == 2 && pairs.Dims[1].Len != 2:
			return nil, pgerror.New("2202E", "array must have two columns")
		case len(pairs.Elems)%2 != 0:
			return nil, pgerror.New("2202E", "array must have even number of elements")
		}
		var keys, values []value.Datum
		for i := 0; i < len(pairs.Elems); i += 2 {
			keys, values = append(keys, pairs.Elems[i]), append(values, pairs.Elems[i+1])
		}
		return object(env, t, keys, values)
	}
}

// objectOfTwo returns the object of an array of keys and one of values.
func objectOfTwo(t *value.Type) expr.CallFunc {
	return func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		keys, values := a[0].(*value.Array), a[1].(*value.Array)
		switch {
		case len(keys.Dims) > 1 || len(keys.Dims) != len(values.Dims):
			return nil, pgerror.New("2202E", "wrong number of array subscripts")
		case len(keys.Elems) != len(values.Elems):
			return nil, pgerror.New("2202E", "mismatched array dimensions")
		}
		return object(env, t, keys.Elems, values.Elems)
	}
}

// object returns an object with texts as keys and values.
func object(env *expr.Env, t *value.Type, keys, values []value.Datum) (value.Datum, error) {
	text := []byte{'{'}
	for i, key := range keys {
		if key == nil {
			return nil, pgerror.New(pgerror.NullNotAllowed, "null value not allowed for object key")
		}
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(hstore.AppendJSONString(text, key.(string)), " : "...)
		text = appendJSON(text, value.Text, values[i], env)
	}
	return asJSON(t, append(text, '}'), env)
}

// objectAgg implements json_object_agg.
type objectAgg struct {
	key, value, returns *value.Type
	so                  []byte
}

// Add implements Aggregator.
func (g *objectAgg) Add(env *expr.Env, a []value.Datum) error {
	if a[0] == nil {
		return pgerror.New(pgerror.InvalidParameterValue, "field name must not be null")
	}
	if g.so == nil {
		g.so = append(g.so, "{ "...)
	} else {
		g.so = append(g.so, ", "...)
	}
	so, err := appendKey(g.so, g.key, a[0], env)
	if err == nil {
		g.so = appendJSON(append(so, " : "...), g.value, a[1], env)
	}
	return err
}

// Result implements Aggregator.
func (g *objectAgg) Result(env *expr.Env) (value.Datum, error) {
	if g.so == nil {
		return nil, nil
	}
	return asJSON(g.returns, append(g.so, " }"...), env)
}

func addObjects(to expr.Table) {
	for _, t := range []*value.Type{value.JSON, value.JSONB} {
		to.Calls(map[string]expr.CallFunc{t.Name + "_object": objectOf(t), t.Name + "_object_two_arg": objectOfTwo(t)})
		to[expr.AggregatePrefix+t.Name+"_object_agg"] = expr.Implementation{Bind: func(args []*value.Type, returns *value.Type) (expr.Bound, error) {
			return expr.Bound{Aggregate: func() expr.Aggregator {
				return &objectAgg{key: args[0], value: args[1], returns: returns}
			}}, nil
		}}
	}
	to.Calls(map[string]expr.CallFunc{"json_strip_nulls": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		n, err := value.ParseJSONMembers(a[0].(string))
		if err != nil {
			return nil, err
		}
		return string(appendStripped(nil, n)), nil
	}})
}
