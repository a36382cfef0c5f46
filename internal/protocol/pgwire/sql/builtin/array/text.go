package array

import (
	"iter"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// arrayToText joins the texts of the elements. It omits NULLs unless a text for them is given.
func arrayToText(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	elem := args[0].Elem
	return expr.Bound{Call: func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		if a[0] == nil || a[1] == nil {
			return nil, nil
		}
		var b []byte
		first := true
		for _, e := range a[0].(*array).Elems {
			if e == nil && (len(a) < 3 || a[2] == nil) {
				continue
			}
			if !first {
				b = append(b, a[1].(string)...)
			}
			first = false
			if e == nil {
				b = append(b, a[2].(string)...)
			} else {
				b = value.AppendText(b, elem, e, &env.Settings)
			}
		}
		return string(b), nil
	}}, nil
}

// cutText returns the parts for string_to_array. ok is false if the text is NULL.
func cutText(a []value.Datum) (parts []value.Datum, ok bool, err error) {
	if a[0] == nil {
		return nil, false, nil
	}
	s := a[0].(string)
	if n := len(s); n > maxElements && (a[1] == nil || a[1].(string) != "" && strings.Count(s, a[1].(string)) >= maxElements) {
		return nil, false, tooManyElements()
	}
	var texts []string
	switch {
	case s == "":
	case a[1] == nil:
		for len(s) > 0 {
			_, size := utf8.DecodeRuneInString(s)
			texts, s = append(texts, s[:size]), s[size:]
		}
	case a[1].(string) == "":
		texts = []string{s}
	default:
		texts = strings.Split(s, a[1].(string))
	}
	for _, t := range texts {
		if len(a) > 2 && a[2] == t {
			parts = append(parts, nil)
		} else {
			parts = append(parts, t)
		}
	}
	return parts, true, nil
}

func textToArray(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	parts, ok, err := cutText(a)
	if !ok || err != nil {
		return nil, err
	}
	return value.NewArray(value.Text, parts), nil
}

// each yields values, one a row.
func each(all []value.Datum) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		for _, d := range all {
			if !yield([]value.Datum{d}, nil) {
				return
			}
		}
	}
}

func textToTable(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
	parts, _, err := cutText(a)
	if err != nil {
		return func(yield func([]value.Datum, error) bool) { yield(nil, err) }
	}
	return each(parts)
}

func unnest(args []*value.Type, returns *value.Type) (expr.Bound, error) {
	if !returns.IsRow() {
		return expr.Bound{Rows: func(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] { return each(a[0].(*array).Elems) }}, nil
	}
	return expr.Bound{Rows: func(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		return func(yield func([]value.Datum, error) bool) {
			for _, d := range a[0].(*array).Elems {
				row, ok := d.(value.Record)
				if !ok {
					row = make(value.Record, len(returns.Fields))
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}}, nil
}

// fill implements array_fill(value, lengths [, lower bounds]).
func fill(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	elem := args[0]
	return expr.Bound{Call: func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		for _, d := range a[1:] {
			if d == nil {
				return nil, pgerror.New(pgerror.NullNotAllowed, "dimension array or low bound array cannot be null")
			}
		}
		lengths, err := numbers(a[1].(*array))
		if err != nil {
			return nil, err
		}
		made := &array{Elem: elem}
		total := int64(1)
		for _, n := range lengths {
			made.Dims, total = append(made.Dims, value.Dim{Len: int32(n), Lower: 1}), total*n
			if n < 0 || total > maxElements {
				return nil, tooManyElements()
			}
		}
		if len(a) > 2 {
			lower, err := numbers(a[2].(*array))
			if err != nil {
				return nil, err
			}
			if len(lower) != len(lengths) {
				return nil, errSubscripts("Low bound array has different size than dimensions array.")
			}
			for i, at := range lower {
				made.Dims[i].Lower = int32(at)
			}
		}
		if len(lengths) == 0 || total == 0 {
			return &array{Elem: elem}, nil
		}
		for range total {
			made.Elems = append(made.Elems, a[0])
		}
		return made, nil
	}}, nil
}

// numbers returns the numbers of an array with one dimension.
func numbers(a *array) ([]int64, error) {
	if len(a.Dims) > 1 {
		return nil, errSubscripts("Dimension array must be one dimensional.")
	}
	all := make([]int64, len(a.Elems))
	for i, d := range a.Elems {
		n, ok := d.(int64)
		if !ok {
			return nil, pgerror.New(pgerror.NullNotAllowed, "dimension values cannot be null")
		}
		all[i] = n
	}
	return all, nil
}

func errSubscripts(detail string) error {
	return pgerror.New(value.ArraySubscriptError, "wrong number of array subscripts").WithDetail("%s", detail)
}

// maxElements is the maximum number of elements when an array is filled or a text is split.
const maxElements = 10_000_000

func tooManyElements() error {
	return pgerror.New(pgerror.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxElements)
}

// subscripts implements generate_subscripts.
func subscripts(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		d, ok := dimension(a)
		if !ok {
			return
		}
		reverse := len(a) > 2 && a[2].(bool)
		for i := range int64(d.Len) {
			at := int64(d.Lower) + i
			if reverse {
				at = int64(d.Lower) + int64(d.Len) - 1 - i
			}
			if !yield([]value.Datum{at}, nil) {
				return
			}
		}
	}
}

func addArrayTexts(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{"text_to_array": textToArray, "text_to_array_null": textToArray})
	to.Sets(map[string]expr.RowsFunc{
		"text_to_table": textToTable, "text_to_table_null": textToTable, "generate_subscripts": subscripts, "generate_subscripts_nodir": subscripts,
	})
	to.Binds(map[string]expr.BindFunc{
		"array_to_text": arrayToText, "array_to_text_null": arrayToText, "array_unnest": unnest, "array_fill": fill,
		"array_fill_with_lower_bounds": fill,
	})
}
