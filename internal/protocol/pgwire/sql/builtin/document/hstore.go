package document

import (
	"iter"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

type hmap = hstore.Map

func hstore1(f func(h hmap) value.Datum) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(hmap)), nil }
}

func hstoreKey(f func(h hmap, key string) value.Datum) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(hmap), a[1].(string)), nil }
}

func hstoreKeys(f func(h hmap, keys []string) value.Datum) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(hmap), textsOf(a[1])), nil }
}

func hstore2(f func(a, b hmap) value.Datum) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(hmap), a[1].(hmap)), nil }
}

// textsOf returns the elements of a text array. It skips NULLs, as hstore does for keys.
func textsOf(d value.Datum) []string {
	var all []string
	for _, e := range d.(*value.Array).Elems {
		if s, ok := e.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

func pairValue(p hstore.Pair) value.Datum {
	if p.Null {
		return nil
	}
	return p.Value
}

func hstoreValues(h hmap) []value.Datum {
	all := make([]value.Datum, len(h))
	for i, p := range h {
		all[i] = pairValue(p)
	}
	return all
}

// hstoreSliceArray returns the values of the keys in an array of the same shape.
func hstoreSliceArray(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	h, keys := a[0].(hmap), a[1].(*value.Array)
	elems := make([]value.Datum, len(keys.Elems))
	for i, k := range keys.Elems {
		if key, ok := k.(string); ok {
			p, found := h.Get(key)
			if found {
				elems[i] = pairValue(p)
			}
		}
	}
	return &value.Array{Elem: value.Text, Dims: keys.Dims, Elems: elems}, nil
}

// hstoreFlat returns key, value, key, value, ...
func hstoreFlat(h hmap) []value.Datum {
	var all []value.Datum
	for _, p := range h {
		all = append(all, p.Key, pairValue(p))
	}
	return all
}

func hstoreMatrix(h hmap) value.Datum {
	m := &value.Array{Elem: value.Text, Elems: hstoreFlat(h)}
	if len(h) > 0 {
		m.Dims = []value.Dim{{Len: int32(len(h)), Lower: 1}, {Len: 2, Lower: 1}}
	}
	return m
}

func newPair(key, v value.Datum) hstore.Pair {
	text, ok := v.(string)
	return hstore.Pair{Key: key.(string), Value: text, Null: !ok}
}

func hstoreFromText(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	if a[0] == nil {
		return nil, nil
	}
	return hstore.New([]hstore.Pair{newPair(a[0], a[1])}), nil
}

// hstoreFromArrays implements hstore(keys, values).
func hstoreFromArrays(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	if a[0] == nil {
		return nil, nil
	}
	keys := a[0].(*value.Array)
	if len(keys.Dims) > 1 {
		return nil, pgerror.New(value.ArraySubscriptError, "wrong number of array subscripts")
	}
	var values []value.Datum
	if a[1] != nil {
		v := a[1].(*value.Array)
		if len(v.Dims) > 1 {
			return nil, pgerror.New(value.ArraySubscriptError, "wrong number of array subscripts")
		}
		if (len(keys.Dims) > 0 || len(v.Dims) > 0) && !value.SameDims(keys.Dims, v.Dims) {
			return nil, pgerror.New(value.ArraySubscriptError, "arrays must have same bounds")
		}
		values = v.Elems
	}
	pairs := make([]hstore.Pair, 0, len(keys.Elems))
	for i, k := range keys.Elems {
		if k == nil {
			return nil, pgerror.New(pgerror.NullNotAllowed, "null value not allowed for hstore key")
		}
		var v value.Datum
		if values != nil {
			v = values[i]
		}
		pairs = append(pairs, newPair(k, v))
	}
	return hstore.New(pairs), nil
}

// hstoreFromRecord converts each field of a row to a pair.
func hstoreFromRecord(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	t := args[0]
	return expr.Bound{Call: func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		r, ok := a[0].(value.Record)
		if !ok && t.Kind != 'c' {
			return nil, nil
		}
		pairs := make([]hstore.Pair, len(t.Fields))
		for i, f := range t.Fields {
			pairs[i] = hstore.Pair{Key: f.Name, Null: r == nil || r[i] == nil}
			if !pairs[i].Null {
				pairs[i].Value = value.String(f.Type, r[i], &env.Settings)
			}
		}
		return hstore.New(pairs), nil
	}}, nil
}

// populateRecord sets the fields of a row from an hstore.
func populateRecord(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	t := args[0]
	if !t.IsRow() || len(t.Fields) == 0 {
		return expr.Bound{}, pgerror.New(pgerror.DatatypeMismatch, "first argument must be a rowtype")
	}
	return expr.Bound{Call: func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		r, _ := a[0].(value.Record)
		if a[1] == nil {
			if r == nil {
				return nil, nil
			}
			return r, nil
		}
		h := a[1].(hmap)
		if len(h) == 0 && r != nil {
			return r, nil
		}
		made := make(value.Record, len(t.Fields))
		copy(made, r)
		for i, f := range t.Fields {
			p, ok := h.Get(f.Name)
			if !ok {
				continue
			}
			made[i] = nil
			if p.Null {
				continue
			}
			v, err := value.Parse(f.Type, p.Value, &env.Settings)
			if err != nil {
				return nil, err
			}
			made[i] = v
		}
		return made, nil
	}}, nil
}

func rowsOf(f func(h hmap, yield func(...value.Datum) bool)) expr.RowsFunc {
	return func(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		return func(yield func([]value.Datum, error) bool) {
			f(a[0].(hmap), func(row ...value.Datum) bool { return yield(row, nil) })
		}
	}
}

func hstoreJSON(loose bool, t *value.Type) expr.CallFunc {
	return func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		text := string(a[0].(hmap).AppendJSON(nil, loose))
		if t == value.JSON {
			return text, nil
		}
		return value.Parse(t, text, &env.Settings)
	}
}

func addHstores(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"hstore_fetchval": expr.HstoreFetch, "hstore_slice_to_array": hstoreSliceArray,
		"hstore_exists":     hstoreKey(func(h hmap, key string) value.Datum { return h.Exists(key) }),
		"hstore_defined":    hstoreKey(func(h hmap, key string) value.Datum { return h.Defined(key) }),
		"hstore_exists_any": hstoreKeys(func(h hmap, keys []string) value.Datum { return h.ExistsAny(keys) }),
		"hstore_exists_all": hstoreKeys(func(h hmap, keys []string) value.Datum { return h.ExistsAll(keys) }),
		"hstore_delete":     hstoreKey(func(h hmap, key string) value.Datum { return h.Delete(key) }),
		"hstore_delete_array": hstoreKeys(func(h hmap, keys []string) value.Datum {
			return h.DeleteKeys(keys)
		}),
		"hstore_delete_hstore":   hstore2(func(a, b hmap) value.Datum { return a.DeletePairs(b) }),
		"hstore_concat":          hstore2(func(a, b hmap) value.Datum { return a.Concat(b) }),
		"hstore_contains":        hstore2(func(a, b hmap) value.Datum { return a.Contains(b) }),
		"hstore_contained":       hstore2(func(a, b hmap) value.Datum { return b.Contains(a) }),
		"hstore_slice_to_hstore": hstoreKeys(func(h hmap, keys []string) value.Datum { return h.Slice(keys) }),
		"hstore_akeys":           hstore1(func(h hmap) value.Datum { return value.TextArray(h.Keys()) }),
		"hstore_avals":           hstore1(func(h hmap) value.Datum { return value.NewArray(value.Text, hstoreValues(h)) }),
		"hstore_to_array":        hstore1(func(h hmap) value.Datum { return value.NewArray(value.Text, hstoreFlat(h)) }),
		"hstore_to_matrix":       hstore1(hstoreMatrix),
		"hstore_from_text":       hstoreFromText, "hstore_from_arrays": hstoreFromArrays,
		"hstore_to_json": hstoreJSON(false, value.JSON), "hstore_to_json_loose": hstoreJSON(true, value.JSON),
		"hstore_to_jsonb": hstoreJSON(false, value.JSONB), "hstore_to_jsonb_loose": hstoreJSON(true, value.JSONB),
		"hstore_version_diag": func(*expr.Env, []value.Datum) (value.Datum, error) { return int64(2), nil },
		"hstore_cmp":          hstore2(func(a, b hmap) value.Datum { return int64(hstore.Compare(a, b)) }),
		"hstore_lt":           hstore2(func(a, b hmap) value.Datum { return hstore.Compare(a, b) < 0 }),
		"hstore_le":           hstore2(func(a, b hmap) value.Datum { return hstore.Compare(a, b) <= 0 }),
		"hstore_gt":           hstore2(func(a, b hmap) value.Datum { return hstore.Compare(a, b) > 0 }),
		"hstore_ge":           hstore2(func(a, b hmap) value.Datum { return hstore.Compare(a, b) >= 0 }),
	})
	to.Binds(map[string]expr.BindFunc{"hstore_from_record": hstoreFromRecord, "hstore_populate_record": populateRecord})
	to.Sets(map[string]expr.RowsFunc{
		"hstore_skeys": rowsOf(func(h hmap, yield func(...value.Datum) bool) {
			for _, p := range h {
				if !yield(p.Key) {
					return
				}
			}
		}),
		"hstore_svals": rowsOf(func(h hmap, yield func(...value.Datum) bool) {
			for _, p := range h {
				if !yield(pairValue(p)) {
					return
				}
			}
		}),
		"hstore_each": rowsOf(func(h hmap, yield func(...value.Datum) bool) {
			for _, p := range h {
				if !yield(p.Key, pairValue(p)) {
					return
				}
			}
		}),
	})
}
