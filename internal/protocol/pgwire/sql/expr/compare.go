package expr

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"

// orders maps comparison operators to the results of Compare for which they hold.
var orders = map[string]func(order int) bool{
	"=": func(o int) bool { return o == 0 }, "<>": func(o int) bool { return o != 0 },
	"<": func(o int) bool { return o < 0 }, "<=": func(o int) bool { return o <= 0 },
	">": func(o int) bool { return o > 0 }, ">=": func(o int) bool { return o >= 0 },
	"~<~": func(o int) bool { return o < 0 }, "~<=~": func(o int) bool { return o <= 0 },
	"~>~": func(o int) bool { return o > 0 }, "~>=~": func(o int) bool { return o >= 0 },
}

// comparison returns a function that compares values of these types, or nil if o is not a
// comparison of supported types.
func comparison(o *Operator, args []*value.Type) CallFunc {
	holds, ok := orders[o.Name]
	if !ok || len(args) != 2 || o.Returns != value.Bool || !hasValues(args[0]) || !hasValues(args[1]) {
		return nil
	}
	left, right := args[0], args[1]
	if f := plainComparison(o.Name, left, right, holds); f != nil {
		return f
	}
	rows := left.IsRow() && right.IsRow()
	if left == right || left.Category == 'S' && right.Category == 'S' || rows && comparableRows(left, right) {
		t := left
		if rows && len(right.Fields) == 0 {
			t = right // the fields of the other do not say what these values have
		}
		return func(_ *Env, a []value.Datum) (value.Datum, error) {
			order, err := value.Compare(t, a[0], a[1])
			return holds(order), err
		}
	}
	if left.Category == 'D' && right.Category == 'D' {
		return compareTimes(left, right, holds)
	}
	return nil
}

// comparableRows reports whether rows of the types can be compared. If the fields of one are not
// known, its values say whether they can.
func comparableRows(a, b *value.Type) bool {
	return len(a.Fields) == 0 || len(b.Fields) == 0 || sameFields(a, b)
}

// plainComparison handles the most common types.
func plainComparison(name string, left, right *value.Type, holds func(int) bool) CallFunc {
	isText := func(t *value.Type) bool { return t == value.Text || t == value.Varchar || t == value.Name }
	isInt := func(t *value.Type) bool {
		return t == value.Int2 || t == value.Int4 || t == value.Int8 || t == value.OID
	}
	isFloat := func(t *value.Type) bool { return t == value.Float4 || t == value.Float8 }
	switch {
	case isText(left) && isText(right) && name == "=":
		return func(_ *Env, a []value.Datum) (value.Datum, error) { return a[0].(string) == a[1].(string), nil }
	case isText(left) && isText(right):
		return func(_ *Env, a []value.Datum) (value.Datum, error) {
			l, r := a[0].(string), a[1].(string)
			return holds(order(l, r)), nil
		}
	case isInt(left) && isInt(right):
		return func(_ *Env, a []value.Datum) (value.Datum, error) {
			l, r := a[0].(int64), a[1].(int64)
			return holds(order(l, r)), nil
		}
	case isFloat(left) && isFloat(right):
		return func(_ *Env, a []value.Datum) (value.Datum, error) {
			o, err := value.Compare(value.Float8, a[0], a[1])
			return holds(o), err
		}
	}
	return nil
}

func order[T int64 | string](l, r T) int {
	switch {
	case l < r:
		return -1
	case l > r:
		return 1
	}
	return 0
}

// compareTimes compares dates and timestamps of different types as timestamps, with time zone if
// either has one.
func compareTimes(left, right *value.Type, holds func(int) bool) CallFunc {
	t := value.TimestampType
	if left == value.TimestampTZType || right == value.TimestampTZType {
		t = value.TimestampTZType
	}
	return func(env *Env, a []value.Datum) (value.Datum, error) {
		l, err := widenTime(left, t, a[0], env)
		if err != nil {
			return nil, err
		}
		r, err := widenTime(right, t, a[1], env)
		if err != nil {
			return nil, err
		}
		o, err := value.Compare(t, l, r)
		return holds(o), err
	}
}

func widenTime(from, to *value.Type, d value.Datum, env *Env) (value.Datum, error) {
	if from == to {
		return d, nil
	}
	return value.Cast(from, to, d, -1, true, &env.Settings)
}
