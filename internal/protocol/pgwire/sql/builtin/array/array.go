package array

import (
	"fmt"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

type array = value.Array

// dimension returns the dimension with the given number, from 1. ok is false if there is none.
func dimension(a []value.Datum) (d value.Dim, ok bool) {
	dims, n := a[0].(*array).Dims, a[1].(int64)
	if n < 1 || n > int64(len(dims)) {
		return d, false
	}
	return dims[n-1], true
}

func ofDimension(f func(d value.Dim) int32) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		d, ok := dimension(a)
		if !ok {
			return nil, nil
		}
		return int64(f(d)), nil
	}
}

// sameElement reports whether two elements of type t are equal or both NULL.
func sameElement(t *value.Type, a, b value.Datum) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	order, err := value.Compare(t, a, b)
	return order == 0, err
}

// arrayWithElement returns the array type and the element type of arguments given in either order.
func arrayWithElement(args []*value.Type) (array, elem *value.Type) {
	if args[0].IsArray() {
		return args[0], args[0].Elem
	}
	return args[1], args[1].Elem
}

// extend implements adding an element before or after an array of at most one dimension.
func extend(front bool) expr.BindFunc {
	return func(args []*value.Type, returns *value.Type) (expr.Bound, error) {
		elem := returns.Elem
		return expr.Bound{Call: func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			d, v := a[0], a[1]
			if front {
				d, v = a[1], a[0]
			}
			old, _ := d.(*array)
			if old == nil || len(old.Dims) == 0 {
				return value.NewArray(elem, []value.Datum{v}), nil
			}
			if len(old.Dims) > 1 {
				return nil, pgerror.New("22000", "argument must be empty or one-dimensional array")
			}
			made := &array{Elem: elem, Dims: []value.Dim{{Len: old.Dims[0].Len + 1, Lower: old.Dims[0].Lower}}}
			made.Elems = make([]value.Datum, 0, len(old.Elems)+1)
			if front {
				made.Elems = append(made.Elems, v)
			}
			made.Elems = append(made.Elems, old.Elems...)
			if !front {
				made.Elems = append(made.Elems, v)
			}
			return made, nil
		}}, nil
	}
}

func arrayCat(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	if a[0] == nil || a[1] == nil {
		if a[0] == nil {
			return a[1], nil
		}
		return a[0], nil
	}
	l, r := a[0].(*array), a[1].(*array)
	switch {
	case len(l.Dims) == 0:
		return r, nil
	case len(r.Dims) == 0:
		return l, nil
	}
	wrong := func(detail string, args ...any) error {
		return pgerror.New(value.ArraySubscriptError, "cannot concatenate incompatible arrays").WithDetail(detail, args...)
	}
	made := &array{Elem: l.Elem, Elems: append(append(make([]value.Datum, 0, len(l.Elems)+len(r.Elems)), l.Elems...), r.Elems...)}
	ld, rd := l.Dims, r.Dims
	switch len(ld) - len(rd) {
	case 0:
		if !value.SameDims(ld[1:], rd[1:]) {
			return nil, wrong("Arrays with differing element dimensions are not compatible for concatenation.")
		}
		made.Dims = append([]value.Dim{{Len: ld[0].Len + rd[0].Len, Lower: ld[0].Lower}}, ld[1:]...)
	case 1:
		if !value.SameDims(ld[1:], rd) {
			return nil, wrong("Arrays with differing dimensions are not compatible for concatenation.")
		}
		made.Dims = append([]value.Dim{{Len: ld[0].Len + 1, Lower: ld[0].Lower}}, ld[1:]...)
	case -1:
		if !value.SameDims(ld, rd[1:]) {
			return nil, wrong("Arrays with differing dimensions are not compatible for concatenation.")
		}
		made.Dims = append([]value.Dim{{Len: rd[0].Len + 1, Lower: rd[0].Lower}}, rd[1:]...)
	default:
		return nil, wrong("Arrays of %d and %d dimensions are not compatible for concatenation.", len(ld), len(rd))
	}
	return made, nil
}

// includes reports whether a contains all elements of b or, if all is false, any of them. A NULL is
// never contained.
func includes(t *value.Type, a, b *array, all bool) (bool, error) {
	for _, e := range b.Elems {
		found := false
		for _, x := range a.Elems {
			if e == nil || x == nil {
				continue
			}
			same, err := sameElement(t, x, e)
			if err != nil {
				return false, err
			}
			if same {
				found = true
				break
			}
		}
		if found != all {
			return found, nil
		}
	}
	return all, nil
}

// inclusion implements @>, <@ and &&.
func inclusion(swap, all bool) expr.BindFunc {
	return func(args []*value.Type, _ *value.Type) (expr.Bound, error) {
		elem := args[0].Elem
		return expr.Bound{Call: func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			l, r := a[0].(*array), a[1].(*array)
			if swap {
				l, r = r, l
			}
			return value.Result(includes(elem, l, r, all))
		}}, nil
	}
}

func errMultidimensional(what string) error {
	return pgerror.New(pgerror.FeatureNotSupported, "%s", what)
}

// arrayPosition implements array_position, which finds an element, optionally from a subscript on.
func arrayPosition(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	_, elem := arrayWithElement(args)
	return expr.Bound{Call: func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		if a[0] == nil {
			return nil, nil
		}
		in, from := a[0].(*array), int64(0)
		if len(in.Dims) > 1 {
			return nil, errMultidimensional("searching for elements in multidimensional arrays is not supported")
		}
		if len(in.Dims) == 0 || a[1] == nil && !slices.Contains(in.Elems, nil) {
			return nil, nil // even if a[2] is NULL
		}
		if len(a) > 2 {
			if a[2] == nil {
				return nil, pgerror.New(pgerror.NullNotAllowed, "initial position must not be null")
			}
			from = a[2].(int64)
		}
		for i, e := range in.Elems {
			at := int64(in.Dims[0].Lower) + int64(i)
			if len(a) > 2 && at < from {
				continue
			}
			if same, err := sameElement(elem, e, a[1]); same || err != nil {
				return at, err
			}
		}
		return nil, nil
	}}, nil
}

func arrayPositions(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	_, elem := arrayWithElement(args)
	return expr.Bound{Call: func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		if a[0] == nil {
			return nil, nil
		}
		in := a[0].(*array)
		if len(in.Dims) > 1 {
			return nil, errMultidimensional("searching for elements in multidimensional arrays is not supported")
		}
		var found []value.Datum
		for i, e := range in.Elems {
			same, err := sameElement(elem, e, a[1])
			if err != nil {
				return nil, err
			}
			if same {
				found = append(found, int64(in.Dims[0].Lower)+int64(i))
			}
		}
		return value.NewArray(value.Int4, found), nil
	}}, nil
}

// replaced implements array_remove and, with three arguments, array_replace.
func replaced(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	_, elem := arrayWithElement(args)
	return expr.Bound{Call: func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		if a[0] == nil {
			return nil, nil
		}
		in := a[0].(*array)
		if len(a) == 2 && len(in.Dims) > 1 {
			return nil, errMultidimensional("removing elements from multidimensional arrays is not supported")
		}
		made := &array{Elem: in.Elem, Dims: in.Dims}
		changed := false
		for _, e := range in.Elems {
			same, err := sameElement(elem, e, a[1])
			switch {
			case err != nil:
				return nil, err
			case !same:
				made.Elems = append(made.Elems, e)
			case len(a) > 2:
				made.Elems, changed = append(made.Elems, a[2]), true
			default:
				changed = true
			}
		}
		if !changed {
			return in, nil
		}
		if len(made.Elems) == 0 {
			return &array{Elem: in.Elem}, nil
		}
		if len(a) == 2 {
			made.Dims = []value.Dim{{Len: int32(len(made.Elems)), Lower: in.Dims[0].Lower}}
		}
		return made, nil
	}}, nil
}

func arrayDims(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	dims := a[0].(*array).Dims
	if len(dims) == 0 {
		return nil, nil
	}
	var b strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&b, "[%d:%d]", d.Lower, d.Lower+d.Len-1)
	}
	return b.String(), nil
}

// trimArray removes the last n elements.
func trimArray(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	in, n := a[0].(*array), a[1].(int64)
	length := int64(0)
	if len(in.Dims) > 0 {
		length = int64(in.Dims[0].Len)
	}
	if n < 0 || n > length {
		return nil, pgerror.New("2202E", "number of elements to trim must be between 0 and %d", length)
	}
	if length == 0 || n == length {
		return &array{Elem: in.Elem}, nil
	}
	upper := []value.ArrayBound{{At: int32(int64(in.Dims[0].Lower) + length - n - 1), Given: true}}
	return value.SliceArray(in, []value.ArrayBound{{}}, upper), nil
}

func addArrays(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"array_length": ofDimension(func(d value.Dim) int32 { return d.Len }),
		"array_lower":  ofDimension(func(d value.Dim) int32 { return d.Lower }),
		"array_upper":  ofDimension(func(d value.Dim) int32 { return d.Lower + d.Len - 1 }),
		"array_ndims": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			if n := len(a[0].(*array).Dims); n > 0 {
				return int64(n), nil
			}
			return nil, nil
		},
		"array_cardinality": func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return int64(len(a[0].(*array).Elems)), nil },
		"array_cat":         arrayCat, "array_dims": arrayDims, "trim_array": trimArray,
	})
	to.Binds(map[string]expr.BindFunc{
		"array_append": extend(false), "array_prepend": extend(true), "arraycontains": inclusion(false, true),
		"arraycontained": inclusion(true, true), "arrayoverlap": inclusion(false, false), "array_position": arrayPosition,
		"array_position_start": arrayPosition, "array_positions": arrayPositions, "array_remove": replaced, "array_replace": replaced,
	})
}
