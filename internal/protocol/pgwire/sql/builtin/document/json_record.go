package document

import (
	"fmt"
	"iter"
	"strings"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// recordFunction is a function that makes rows out of JSON objects: json_to_record,
// json_populate_recordset and so on. The type of the rows is that of its first argument, base, if
// there is one, or else that of a column definition list.
type recordFunction struct {
	name string
	json *value.Type // json or jsonb
	base bool

	t     *value.Type // of the rows
	wrong error       // of any call with these types
}

// bind returns f for a call with these types.
func (f recordFunction) bind(args []*value.Type, returns *value.Type) recordFunction {
	f.t = returns
	switch {
	case f.base && !args[0].IsRow():
		f.wrong = pgerror.New(pgerror.DatatypeMismatch, "first argument of %s must be a row type", f.name)
	case f.base && len(args[0].Fields) > 0:
		f.t, f.wrong = args[0], mismatch(args[0].Fields, returns.Fields)
	case len(f.t.Fields) == 0:
		f.wrong = pgerror.New(pgerror.FeatureNotSupported, "could not determine row type for result of %s", f.name).
			WithHint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.")
	}
	return f
}

// mismatch returns an error if a column definition list, wanted, has other types than the rows.
func mismatch(rows, wanted []value.Field) error {
	wrong := pgerror.New(pgerror.DatatypeMismatch, "function return row and query-specified return row do not match")
	if len(rows) != len(wanted) {
		return wrong.WithDetail("Returned row contains %d attributes, but query expects %d.", len(rows), len(wanted))
	}
	for i := range rows {
		if rows[i].Type != wanted[i].Type {
			return wrong.WithDetail("Returned type %s at ordinal position %d, but query expects %s.", rows[i].Type, i+1, wanted[i].Type)
		}
	}
	return nil
}

// arguments returns the base, which may be nil, and the parsed document, nil for NULL.
func (f recordFunction) arguments(a []value.Datum) (base value.Record, n *value.JSONNode, err error) {
	if f.wrong != nil {
		return nil, nil, f.wrong
	}
	if f.base {
		base, _ = a[0].(value.Record)
		a = a[1:]
	}
	if a[0] == nil {
		return base, nil, nil
	}
	n, err = value.ParseJSONMembers(a[0].(string))
	return base, n, err
}

// record implements the functions that return one row.
func (f recordFunction) record(env *expr.Env, a []value.Datum) (value.Datum, error) {
	base, n, err := f.arguments(a)
	switch {
	case err != nil:
		return nil, err
	case n == nil && base == nil:
		return nil, nil
	case n == nil:
		return base, nil
	}
	return populate(env, f.t, base, n)
}

// records implements the functions that return a row for each object of an array.
func (f recordFunction) records(env *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		base, n, err := f.arguments(a)
		if err == nil && n != nil {
			err = f.check(n)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if n == nil {
			return
		}
		for _, e := range n.Elems {
			row, err := populate(env, f.t, base, e)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// check returns an error unless n is an array of objects.
func (f recordFunction) check(n *value.JSONNode) error {
	if n.Kind != 'a' {
		what := "a scalar"
		switch {
		case f.json == value.JSONB:
			what = "a non-array"
		case n.Kind == 'o':
			what = "an object"
		}
		return pgerror.New(pgerror.InvalidParameterValue, "cannot call %s on %s", f.name, what)
	}
	for _, e := range n.Elems {
		if e.Kind != 'o' {
			return pgerror.New(pgerror.InvalidParameterValue, "argument of %s must be an array of objects", f.name)
		}
	}
	return nil
}

// populate returns the row of an object. Columns without a member have the values of base, or NULL.
func populate(env *expr.Env, t *value.Type, base value.Record, n *value.JSONNode) (value.Record, error) {
	switch n.Kind {
	case 'o':
	case 'a':
		return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot call populate_composite on an array")
	default:
		return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot call populate_composite on a scalar")
	}
	members := map[string]*value.JSONNode{}
	for _, m := range n.Members {
		members[m.Key] = m.Value // the last of several with this key
	}
	row := make(value.Record, len(t.Fields))
	copy(row, base)
	for i, c := range t.Fields {
		v := members[c.Name]
		if v == nil {
			continue
		}
		d, err := fromJSON(env, c.Type, c.Name, row[i], v)
		if err == nil {
			d, err = value.Fit(c.Type, d, c.Mod-1, false)
		}
		if err != nil {
			return nil, err
		}
		row[i] = d
	}
	return row, nil
}

// fromJSON converts a JSON value to the type of a column. base is the value of the column in the
// base.
func fromJSON(env *expr.Env, t *value.Type, column string, base value.Datum, n *value.JSONNode) (value.Datum, error) {
	switch {
	case n.Kind == 'n':
		return nil, nil
	case n.Kind == 's' && (t == value.JSON || t == value.JSONB):
		return value.Parse(t, string(hstore.AppendJSONString(nil, n.Text)), &env.Settings)
	case n.Kind == 's':
		return value.Parse(t, n.Text, &env.Settings)
	case t.IsArray():
		return arrayFromJSON(env, t, column, n)
	case t.IsRow():
		row, _ := base.(value.Record)
		return populate(env, t, row, n)
	}
	return value.Parse(t, n.Source, &env.Settings)
}

// arrayFromJSON converts a JSON array to an array. As in PostgreSQL, the first elements decide how
// many dimensions it has.
func arrayFromJSON(env *expr.Env, t *value.Type, column string, n *value.JSONNode) (value.Datum, error) {
	a := &value.Array{Elem: t.Elem}
	for at := n; at.Kind == 'a'; at = at.Elems[0] {
		a.Dims = append(a.Dims, value.Dim{Len: int32(len(at.Elems)), Lower: 1})
		if len(at.Elems) == 0 {
			break
		}
	}
	var elements func(n *value.JSONNode, indexes []int) error
	elements = func(n *value.JSONNode, indexes []int) error {
		depth := len(indexes)
		switch {
		case depth == len(a.Dims) && depth > 0:
			d, err := fromJSON(env, t.Elem, column, nil, n)
			a.Elems = append(a.Elems, d)
			return err
		case n.Kind != 'a':
			return notArray(column, indexes)
		case len(n.Elems) != int(a.Dims[depth].Len):
			return pgerror.New(pgerror.InvalidText, "malformed JSON array").
				WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
		}
		for i, e := range n.Elems {
			if err := elements(e, append(indexes, i)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := elements(n, nil); err != nil {
		return nil, err
	}
	switch {
	case len(a.Elems) == 0:
		a.Dims = nil
	case len(a.Dims) > value.MaxDims:
		return nil, value.TooManyDims(len(a.Dims))
	}
	return a, nil
}

// notArray is the error for a value that should be an array, at indexes of the value of a column.
func notArray(column string, indexes []int) error {
	e := pgerror.New(pgerror.InvalidText, "expected JSON array")
	if len(indexes) == 0 {
		return e.WithHint("See the value of key \"%s\".", column)
	}
	var at strings.Builder
	for _, i := range indexes {
		fmt.Fprintf(&at, "[%d]", i)
	}
	return e.WithHint("See the array element %s of key \"%s\".", &at, column)
}

func addRecords(to expr.Table) {
	for _, t := range []*value.Type{value.JSON, value.JSONB} {
		for _, base := range []bool{false, true} {
			name := t.Name + "_to_record"
			if base {
				name = t.Name + "_populate_record"
			}
			one := recordFunction{name: name, json: t, base: base}
			set := recordFunction{name: name + "set", json: t, base: base}
			to.Binds(map[string]expr.BindFunc{
				one.name: func(args []*value.Type, returns *value.Type) (expr.Bound, error) {
					return expr.Bound{Call: one.bind(args, returns).record}, nil
				},
				set.name: func(args []*value.Type, returns *value.Type) (expr.Bound, error) {
					return expr.Bound{Rows: set.bind(args, returns).records}, nil
				},
			})
		}
	}
}
