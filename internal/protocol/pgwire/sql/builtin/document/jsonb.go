package document

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// scalar reports whether a value is neither an object nor an array.
func scalar(n *value.JSONNode) bool { return n.Kind != 'o' && n.Kind != 'a' }

// elements returns the elements of an array. Another value counts as an array of itself.
func elements(n *value.JSONNode) []*value.JSONNode {
	if n.Kind == 'a' {
		return n.Elems
	}
	return []*value.JSONNode{n}
}

// memberAt returns the index of the member with a key; -1: there is none.
func memberAt(n *value.JSONNode, key string) int {
	return slices.IndexFunc(n.Members, func(m value.JSONMember) bool { return m.Key == key })
}

// isString reports whether a value is this string.
func isString(n *value.JSONNode, s string) bool { return n.Kind == 's' && n.Text == s }

// hasKey implements the operator ?: whether an object has a key, or an array a string.
func hasKey(n *value.JSONNode, key string) bool {
	if n.Kind == 'o' {
		return memberAt(n, key) >= 0
	}
	return slices.ContainsFunc(elements(n), func(e *value.JSONNode) bool { return isString(e, key) })
}

// contains implements the operator @>. An array contains also a scalar that is an element of it.
func contains(n, part *value.JSONNode) bool {
	if scalar(part) && n.Kind == 'a' {
		return holds(n, part)
	}
	return within(n, part)
}

func within(n, part *value.JSONNode) bool {
	switch {
	case n.Kind != part.Kind:
		return false
	case part.Kind == 'o':
		return !slices.ContainsFunc(part.Members, func(m value.JSONMember) bool {
			i := memberAt(n, m.Key)
			return i < 0 || !within(n.Members[i].Value, m.Value)
		})
	case part.Kind == 'a':
		return !slices.ContainsFunc(part.Elems, func(e *value.JSONNode) bool { return !holds(n, e) })
	}
	return n.Equal(part)
}

// holds reports whether an element of an array contains e.
func holds(array, e *value.JSONNode) bool {
	return slices.ContainsFunc(array.Elems, func(have *value.JSONNode) bool { return within(have, e) })
}

// concat implements the operator || of jsonb.
func concat(a, b *value.JSONNode) *value.JSONNode {
	if a.Kind == 'o' && b.Kind == 'o' {
		return value.JSONObject(append(slices.Clone(a.Members), b.Members...))
	}
	return &value.JSONNode{Kind: 'a', Elems: append(slices.Clone(elements(a)), elements(b)...)}
}

// without returns an object without keys, or an array without strings.
func without(n *value.JSONNode, keys ...string) (*value.JSONNode, error) {
	switch n.Kind {
	case 'o':
		n.Members = slices.DeleteFunc(n.Members, func(m value.JSONMember) bool { return slices.Contains(keys, m.Key) })
	case 'a':
		n.Elems = slices.DeleteFunc(n.Elems, func(e *value.JSONNode) bool {
			return slices.ContainsFunc(keys, func(key string) bool { return isString(e, key) })
		})
	default:
		return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot delete from scalar")
	}
	return n, nil
}

// withoutElement returns an array without an element, counted from the end if i is negative.
func withoutElement(n *value.JSONNode, i int64) (*value.JSONNode, error) {
	if n.Kind == 'o' {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot delete from object using integer index")
	}
	if scalar(n) {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot delete from scalar")
	}
	if i < 0 {
		i += int64(len(n.Elems))
	}
	if i >= 0 && i < int64(len(n.Elems)) {
		n.Elems = slices.Delete(n.Elems, int(i), int(i)+1)
	}
	return n, nil
}

// stripNulls removes the members of objects that are null.
func stripNulls(n *value.JSONNode) *value.JSONNode {
	n.Members = slices.DeleteFunc(n.Members, func(m value.JSONMember) bool { return m.Value.Kind == 'n' })
	for _, m := range n.Members {
		stripNulls(m.Value)
	}
	for _, e := range n.Elems {
		stripNulls(e)
	}
	return n
}

// appendPretty appends a value with its elements and members on lines of their own.
func appendPretty(dst []byte, n *value.JSONNode, depth int) []byte {
	line := func(depth int) {
		dst = append(dst, '\n')
		for range depth {
			dst = append(dst, "    "...)
		}
	}
	begin := func(i int) {
		if i > 0 {
			dst = append(dst, ',')
		}
		line(depth + 1)
	}
	switch n.Kind {
	case 'a':
		dst = append(dst, '[')
		for i, e := range n.Elems {
			begin(i)
			dst = appendPretty(dst, e, depth+1)
		}
		line(depth)
		return append(dst, ']')
	case 'o':
		dst = append(dst, '{')
		for i, m := range n.Members {
			begin(i)
			dst = appendPretty(append(hstore.AppendJSONString(dst, m.Key), ": "...), m.Value, depth+1)
		}
		line(depth)
		return append(dst, '}')
	}
	return n.Append(dst)
}

// texts returns the elements of an array of texts that are not NULL.
func texts(d value.Datum) (all []string) {
	for _, e := range d.(*value.Array).Elems {
		if s, ok := e.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// asked returns a function that answers a question about a jsonb.
func asked(f func(n *value.JSONNode, a value.Datum) bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		n, err := value.ParseJSON(a[0].(string), true)
		if err != nil {
			return nil, err
		}
		return f(n, a[1]), nil
	}
}

// changed returns a function that changes a jsonb, which is its own.
func changed(f func(n *value.JSONNode, a []value.Datum) (*value.JSONNode, error)) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		n, err := value.ParseJSON(a[0].(string), true)
		if err == nil {
			n, err = f(n, a[1:])
		}
		if err != nil {
			return nil, err
		}
		return string(n.Append(nil)), nil
	}
}

// both returns a function of two jsonb.
func both(f func(a, b *value.JSONNode) value.Datum) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x, err := value.ParseJSON(a[0].(string), true)
		if err != nil {
			return nil, err
		}
		y, err := value.ParseJSON(a[1].(string), true)
		if err != nil {
			return nil, err
		}
		return f(x, y), nil
	}
}

func addJSONB(to expr.Table) {
	type node = *value.JSONNode
	to.Calls(map[string]expr.CallFunc{
		"jsonb_exists": asked(func(n node, a value.Datum) bool { return hasKey(n, a.(string)) }),
		"jsonb_exists_any": asked(func(n node, a value.Datum) bool {
			return slices.ContainsFunc(texts(a), func(key string) bool { return hasKey(n, key) })
		}),
		"jsonb_exists_all": asked(func(n node, a value.Datum) bool {
			return !slices.ContainsFunc(texts(a), func(key string) bool { return !hasKey(n, key) })
		}),
		"jsonb_contains":  both(func(a, b node) value.Datum { return contains(a, b) }),
		"jsonb_contained": both(func(a, b node) value.Datum { return contains(b, a) }),
		"jsonb_concat":    both(func(a, b node) value.Datum { return string(concat(a, b).Append(nil)) }),

		"jsonb_delete":       changed(func(n node, a []value.Datum) (node, error) { return without(n, a[0].(string)) }),
		"jsonb_delete_array": changed(func(n node, a []value.Datum) (node, error) { return without(n, texts(a[0])...) }),
		"jsonb_delete_idx":   changed(func(n node, a []value.Datum) (node, error) { return withoutElement(n, a[0].(int64)) }),
		"jsonb_strip_nulls":  changed(func(n node, _ []value.Datum) (node, error) { return stripNulls(n), nil }),
		"jsonb_pretty": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			n, err := value.ParseJSON(a[0].(string), true)
			if err != nil {
				return nil, err
			}
			return string(appendPretty(nil, n, 0)), nil
		},
	})
	addPathChanges(to)
}
