package document

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// appendJSON appends a value as JSON, in the format of to_json.
func appendJSON(dst []byte, t *value.Type, d value.Datum, env *expr.Env) []byte {
	switch v := d.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case *value.Array:
		if t.Elem == nil {
			break
		}
		elems := v.Elems
		return appendJSONArray(dst, t.Elem, v.Dims, &elems, env)
	case value.Record:
		dst = append(dst, '{')
		for i, f := range t.Fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(hstore.AppendJSONString(dst, f.Name), ':')
			dst = appendJSON(dst, f.Type, v[i], env)
		}
		return append(dst, '}')
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			break
		}
		return value.AppendText(dst, t, d, &env.Settings)
	case numeric.Number:
		if v.IsSpecial() {
			break
		}
		return v.Append(dst)
	case int64:
		if t == value.Int2 || t == value.Int4 || t == value.Int8 {
			return strconv.AppendInt(dst, v, 10)
		}
	case temporal.Timestamp, temporal.TimestampTZ, temporal.Date:
		return hstore.AppendJSONString(dst, isoTime(t, d, env))
	}
	switch t {
	case value.JSON, value.JSONB:
		return append(dst, d.(string)...)
	case value.Hstore:
		return d.(hmap).AppendJSON(dst, false)
	}
	return hstore.AppendJSONString(dst, value.String(t, d, &env.Settings))
}

// appendKey appends a value as the key of a member.
func appendKey(dst []byte, t *value.Type, d value.Datum, env *expr.Env) ([]byte, error) {
	_, isRow := d.(value.Record)
	if isRow || t.IsArray() || t == value.JSON || t == value.JSONB || t == value.Hstore {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "key value must be scalar, not array, composite, or json")
	}
	at := len(dst)
	dst = appendJSON(dst, t, d, env)
	if dst[at] != '"' {
		dst = append(slices.Insert(dst, at, '"'), '"')
	}
	return dst, nil
}

// isoTime formats a date or time in ISO 8601, regardless of the session's DateStyle.
func isoTime(t *value.Type, d value.Datum, env *expr.Env) string {
	settings := env.Settings
	settings.DateStyle = temporal.DateStyle{Format: "ISO", Order: "YMD"}
	text := value.String(t, d, &settings)
	text, era := strings.CutSuffix(text, " BC")
	if t == value.TimestampTZType && len(text) > 3 && (text[len(text)-3] == '+' || text[len(text)-3] == '-') {
		text += ":00"
	}
	if era {
		text += " BC"
	}
	if t == value.DateType {
		return text
	}
	return strings.Replace(text, " ", "T", 1)
}

// appendJSONArray appends an array of these dimensions, whose elements it takes from elems.
func appendJSONArray(dst []byte, elem *value.Type, dims []value.Dim, elems *[]value.Datum, env *expr.Env) []byte {
	dst = append(dst, '[')
	if len(dims) == 0 {
		return append(dst, ']')
	}
	for i := range dims[0].Len {
		if i > 0 {
			dst = append(dst, ',')
		}
		if len(dims) > 1 {
			dst = appendJSONArray(dst, elem, dims[1:], elems, env)
			continue
		}
		dst = appendJSON(dst, elem, (*elems)[0], env)
		*elems = (*elems)[1:]
	}
	return append(dst, ']')
}

// asJSON converts a JSON text to the type t, json or jsonb.
func asJSON(t *value.Type, text []byte, env *expr.Env) (value.Datum, error) {
	if t == value.JSON {
		return string(text), nil
	}
	return value.Parse(t, string(text), &env.Settings)
}

func toJSON(args []*value.Type, returns *value.Type) (expr.Bound, error) {
	return expr.Bound{Call: func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		return asJSON(returns, appendJSON(nil, args[0], a[0], env), env)
	}}, nil
}

// buildJSON adds json_build_array or json_build_object.
func buildJSON(to expr.Table, name string, t *value.Type, object bool) {
	to.OverAny(name, 0, func(env *expr.Env, _ []value.Datum, types []*value.Type, all []value.Datum) (value.Datum, error) {
		if !object {
			text := []byte{'['}
			for i, d := range all {
				if i > 0 {
					text = append(text, ", "...)
				}
				text = appendJSON(text, types[i], d, env)
			}
			return asJSON(t, append(text, ']'), env)
		}
		if len(all)%2 != 0 {
			return nil, pgerror.New(pgerror.InvalidParameterValue, "argument list must have even number of elements").
				WithHint("The arguments of %s() must consist of alternating keys and values.", name)
		}
		text := []byte{'{'}
		for i := 0; i < len(all); i += 2 {
			if i > 0 {
				text = append(text, ", "...)
			}
			if all[i] == nil {
				if t == value.JSONB {
					return nil, pgerror.New(pgerror.InvalidParameterValue, "argument %d: key must not be null", i+1)
				}
				return nil, pgerror.New(pgerror.InvalidParameterValue, "argument %d cannot be null", i+1).
					WithHint("Object keys should be text.")
			}
			var err error
			if text, err = appendKey(text, types[i], all[i], env); err != nil {
				return nil, err
			}
			text = appendJSON(append(text, " : "...), types[i+1], all[i+1], env)
		}
		return asJSON(t, append(text, '}'), env)
	})
}

// member returns the value of a key of an object.
func member(text, key string) (json.RawMessage, bool) {
	var object map[string]json.RawMessage
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") || json.Unmarshal([]byte(text), &object) != nil {
		return nil, false
	}
	v, ok := object[key]
	return v, ok
}

// item returns an element of an array, counted from the end if n is negative.
func item(text string, n int64) (json.RawMessage, bool) {
	all, ok := items(text)
	if n < 0 {
		n += int64(len(all))
	}
	if !ok || n < 0 || n >= int64(len(all)) {
		return nil, false
	}
	return all[n], true
}

func items(text string) (all []json.RawMessage, ok bool) {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") || json.Unmarshal([]byte(text), &all) != nil {
		return nil, false
	}
	return all, true
}

// step follows one element of a path into an object or an array.
func step(text, word string) (json.RawMessage, bool) {
	if n, err := strconv.ParseInt(word, 10, 32); err == nil {
		if v, ok := item(text, n); ok {
			return v, true
		}
	}
	return member(text, word)
}

// shownJSON returns the result of -> and ->> for the value that they found.
func shownJSON(found json.RawMessage, ok, asText bool) (value.Datum, error) {
	if !ok {
		return nil, nil
	}
	if !asText {
		return string(found), nil
	}
	if string(found) == "null" {
		return nil, nil
	}
	if found[0] != '"' {
		return string(found), nil
	}
	node, err := value.ParseJSON(string(found), true)
	if err != nil {
		return nil, err
	}
	return node.Text, nil
}

func field1(asText bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		found, ok := member(a[0].(string), a[1].(string))
		return shownJSON(found, ok, asText)
	}
}

// element1 implements -> and ->> with a number. A jsonb scalar counts as an array of itself.
func element1(asText bool, t *value.Type) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		text, n := a[0].(string), a[1].(int64)
		if t == value.JSONB && text[0] != '[' && text[0] != '{' {
			return shownJSON(json.RawMessage(text), n == 0 || n == -1, asText)
		}
		found, ok := item(text, n)
		return shownJSON(found, ok, asText)
	}
}

func path(asText bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		text := a[0].(string)
		for _, word := range a[1].(*value.Array).Elems {
			w, isText := word.(string)
			if !isText {
				return nil, nil
			}
			found, ok := step(text, w)
			if !ok {
				return nil, nil
			}
			text = string(found)
		}
		return shownJSON(json.RawMessage(text), true, asText)
	}
}

func jsonTypeOf(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	node, err := value.ParseJSON(a[0].(string), true)
	if err != nil {
		return nil, err
	}
	return map[byte]string{'n': "null", 'b': "boolean", '#': "number", 's': "string", 'a': "array", 'o': "object"}[node.Kind], nil
}

func jsonArrayLength(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	all, ok := items(a[0].(string))
	if !ok {
		if strings.HasPrefix(strings.TrimSpace(a[0].(string)), "{") {
			return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot get array length of a non-array")
		}
		return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot get array length of a scalar")
	}
	return int64(len(all)), nil
}

func jsonElements(t *value.Type, function string, asText bool) expr.RowsFunc {
	return func(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		return func(yield func([]value.Datum, error) bool) {
			all, ok := items(a[0].(string))
			if !ok {
				yield(nil, noElements(t, function, strings.HasPrefix(strings.TrimLeft(a[0].(string), " \t\r\n"), "{")))
				return
			}
			for _, v := range all {
				d, err := shownJSON(v, true, asText)
				if !yield([]value.Datum{d}, err) {
					return
				}
			}
		}
	}
}

// noElements is the error for a value that is not an array: an object or a scalar.
func noElements(t *value.Type, function string, object bool) error {
	text := "cannot extract elements from "
	switch {
	case t == value.JSON && object:
		text = "cannot call " + function + " on a non-array"
	case t == value.JSON:
		text = "cannot call " + function + " on a scalar"
	case object:
		text += "an object"
	default:
		text += "a scalar"
	}
	return pgerror.New(pgerror.InvalidParameterValue, "%s", text)
}

// jsonEach yields the members of an object.
func jsonEach(t *value.Type, function string, asText bool) expr.RowsFunc {
	return jsonMembers(func(kind byte) string {
		switch {
		case t == value.JSONB:
			return "cannot call " + function + " on a non-object"
		case kind == 'a':
			return "cannot deconstruct an array as an object"
		}
		return "cannot deconstruct a scalar"
	}, func(m value.JSONMember) ([]value.Datum, error) {
		d, err := shownJSON(json.RawMessage(m.Value.Source), true, asText)
		return []value.Datum{m.Key, d}, err
	})
}

// jsonKeys yields the keys of an object.
func jsonKeys(function string) expr.RowsFunc {
	return jsonMembers(func(kind byte) string {
		if kind == 'a' {
			return "cannot call " + function + " on an array"
		}
		return "cannot call " + function + " on a scalar"
	}, func(m value.JSONMember) ([]value.Datum, error) { return []value.Datum{m.Key}, nil })
}

// jsonMembers yields a row for each member of an object. refusal is the error for a value of
// another kind.
func jsonMembers(refusal func(kind byte) string, row func(value.JSONMember) ([]value.Datum, error)) expr.RowsFunc {
	return func(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		return func(yield func([]value.Datum, error) bool) {
			node, err := value.ParseJSONMembers(a[0].(string))
			if err == nil && node.Kind != 'o' {
				err = pgerror.New(pgerror.InvalidParameterValue, "%s", refusal(node.Kind))
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, m := range node.Members {
				if r, err := row(m); !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// jsonAgg implements json_agg.
type jsonAgg struct {
	t, returns *value.Type
	so         []byte
}

// Add implements Aggregator.
func (g *jsonAgg) Add(env *expr.Env, a []value.Datum) error {
	if g.so == nil {
		g.so = []byte{'['}
	} else {
		g.so = append(g.so, ", "...)
		if _, isRow := a[0].(value.Record); isRow || a[0] != nil && g.t.IsArray() {
			g.so = append(g.so, "\n "...) // as in PostgreSQL
		}
	}
	g.so = appendJSON(g.so, g.t, a[0], env)
	return nil
}

// Result implements Aggregator.
func (g *jsonAgg) Result(env *expr.Env) (value.Datum, error) {
	if g.so == nil {
		return nil, nil
	}
	return asJSON(g.returns, append(g.so, ']'), env)
}

func addDocuments(to expr.Table) {
	for _, t := range []*value.Type{value.JSON, value.JSONB} {
		buildJSON(to, t.Name+"_build_array", t, false)
		buildJSON(to, t.Name+"_build_object", t, true)
		empty := func(text string) expr.CallFunc {
			return func(*expr.Env, []value.Datum) (value.Datum, error) { return text, nil }
		}
		to.Calls(map[string]expr.CallFunc{
			t.Name + "_build_array_noargs": empty("[]"), t.Name + "_build_object_noargs": empty("{}"),
			t.Name + "_object_field": field1(false), t.Name + "_object_field_text": field1(true),
			t.Name + "_array_element": element1(false, t), t.Name + "_array_element_text": element1(true, t),
			t.Name + "_extract_path": path(false), t.Name + "_extract_path_text": path(true),
			t.Name + "_typeof": jsonTypeOf, t.Name + "_array_length": jsonArrayLength,
		})
		to.Sets(map[string]expr.RowsFunc{
			t.Name + "_object_keys": jsonKeys(t.Name + "_object_keys"),
		})
		for suffix, asText := range map[string]bool{"": false, "_text": true} {
			elements, each := t.Name+"_array_elements"+suffix, t.Name+"_each"+suffix
			to.Sets(map[string]expr.RowsFunc{elements: jsonElements(t, elements, asText), each: jsonEach(t, each, asText)})
		}
		to[expr.AggregatePrefix+t.Name+"_agg"] = expr.Implementation{Bind: func(args []*value.Type, returns *value.Type) (expr.Bound, error) {
			return expr.Bound{Aggregate: func() expr.Aggregator { return &jsonAgg{t: args[0], returns: returns} }}, nil
		}}
	}
	addObjects(to)
	to.Binds(map[string]expr.BindFunc{"to_json": toJSON, "to_jsonb": toJSON, "row_to_json": toJSON, "array_to_json": toJSON})
}
