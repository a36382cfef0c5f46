package aggregate

import (
	"math"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/datetime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/text"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// counter implements count.
type counter struct{ n int64 }

// Add implements Aggregator.
func (c *counter) Add(_ *expr.Env, a []value.Datum) error {
	if len(a) == 0 || a[0] != nil {
		c.n++
	}
	return nil
}

// Result implements Aggregator.
func (c *counter) Result(*expr.Env) (value.Datum, error) { return c.n, nil }

// folding combines values with a binary function. It ignores NULLs.
type folding struct {
	so   value.Datum // the result so far; nil: no value yet
	join func(a, b value.Datum) (value.Datum, error)
}

// Add implements Aggregator.
func (f *folding) Add(_ *expr.Env, a []value.Datum) (err error) {
	switch {
	case a[0] == nil:
	case f.so == nil:
		f.so = a[0]
	default:
		f.so, err = f.join(f.so, a[0])
	}
	return err
}

// Result implements Aggregator.
func (f *folding) Result(*expr.Env) (value.Datum, error) { return f.so, nil }

func foldingOf(join func(a, b value.Datum) (value.Datum, error)) expr.Implementation {
	return expr.Implementation{Aggregate: func() expr.Aggregator { return &folding{join: join} }}
}

// extreme implements min and max.
func extreme(greatest bool) expr.BindFunc {
	return func(args []*value.Type, _ *value.Type) (expr.Bound, error) {
		t := args[0]
		join := func(a, b value.Datum) (value.Datum, error) {
			order, err := value.Compare(t, a, b)
			if err != nil || order == 0 || (order > 0) == greatest {
				return a, err
			}
			return b, nil
		}
		return expr.Bound{Aggregate: func() expr.Aggregator { return &folding{join: join} }}, nil
	}
}

// sum adds numbers of any type as numeric.
type sum struct {
	total   numeric.Number
	n       int64
	average bool
	asInt   bool // the result is a bigint
}

// Add implements Aggregator.
func (s *sum) Add(_ *expr.Env, a []value.Datum) (err error) {
	if a[0] == nil {
		return nil
	}
	s.n++
	s.total, err = s.total.Add(number(a[0]))
	return err
}

// number converts a non-NULL number to numeric.
func number(d value.Datum) numeric.Number {
	if n, ok := d.(int64); ok {
		return numeric.FromInt(n)
	}
	return d.(numeric.Number)
}

// Result implements Aggregator.
func (s *sum) Result(*expr.Env) (value.Datum, error) {
	switch {
	case s.n == 0:
		return nil, nil
	case s.average:
		return value.Result(s.total.Div(numeric.FromInt(s.n)))
	case s.asInt:
		return value.Result(value.ToInt(s.total, value.Int8))
	}
	return s.total, nil
}

// intervalAverage implements avg for intervals.
type intervalAverage struct {
	folding
	n int64
}

// Add implements Aggregator.
func (v *intervalAverage) Add(env *expr.Env, a []value.Datum) error {
	if a[0] != nil {
		v.n++
	}
	return v.folding.Add(env, a)
}

// Result implements Aggregator.
func (v *intervalAverage) Result(*expr.Env) (value.Datum, error) {
	if v.n == 0 {
		return nil, nil
	}
	return value.Result(datetime.IntervalDiv(v.so.(temporal.Interval), float64(v.n)))
}

func addIntervals(a, b value.Datum) (value.Datum, error) {
	return value.Result(datetime.IntervalPlus(a.(temporal.Interval), b.(temporal.Interval)))
}

// floatSum accumulates floats for sum, avg and the deviations, with the Youngs-Cramer algorithm as
// in PostgreSQL.
type floatSum struct {
	n, sx, sxx float64
	single     bool // float4: the sum is rounded at each step
	result     func(f *floatSum) value.Datum
}

// Add implements Aggregator.
func (f *floatSum) Add(_ *expr.Env, a []value.Datum) error {
	x, ok := a[0].(float64)
	if !ok {
		return nil
	}
	f.n++
	f.sx += x
	if f.single {
		f.sx = float64(float32(f.sx))
	}
	if f.n > 1 {
		tmp := x*f.n - f.sx
		f.sxx += tmp * tmp / (f.n * (f.n - 1))
	} else if math.IsInf(x, 0) || math.IsNaN(x) {
		f.sxx = math.NaN()
	}
	return nil
}

// Result implements Aggregator.
func (f *floatSum) Result(*expr.Env) (value.Datum, error) {
	if f.n == 0 {
		return nil, nil
	}
	return f.result(f), nil
}

// deviation implements variance and related aggregates for numerics. It accumulates n, the sum, and
// the sum of squares.
type deviation struct {
	n          int64
	sx, sxx    numeric.Number
	population bool
	root       bool
}

// Add implements Aggregator.
func (s *deviation) Add(_ *expr.Env, a []value.Datum) (err error) {
	if a[0] == nil {
		return nil
	}
	d := number(a[0])
	s.n++
	if s.sx, err = s.sx.Add(d); err != nil {
		return err
	}
	square, err := d.Mul(d)
	if err != nil {
		return err
	}
	s.sxx, err = s.sxx.Add(square)
	return err
}

// Result implements Aggregator: (n·sxx - sx²) / (n·n) or / (n·(n-1)).
func (s *deviation) Result(*expr.Env) (value.Datum, error) {
	less := int64(1)
	if s.population {
		less = 0
	}
	if s.n <= less {
		return nil, nil
	}
	n := numeric.FromInt(s.n)
	left, err := n.Mul(s.sxx)
	if err != nil {
		return nil, err
	}
	square, err := s.sx.Mul(s.sx)
	if err != nil {
		return nil, err
	}
	numerator, err := left.Sub(square)
	if err != nil {
		return nil, err
	}
	if numerator.Sign() <= 0 && !numerator.IsSpecial() {
		return numeric.FromInt(0), nil
	}
	divisor, err := n.Mul(numeric.FromInt(s.n - less))
	if err != nil {
		return nil, err
	}
	variance, err := numerator.Div(divisor)
	if err != nil || !s.root {
		return value.Result(variance, err)
	}
	return value.Result(variance.Sqrt())
}

// arrayAgg implements array_agg. If nested, the inputs are arrays, and the result has one more
// dimension.
type arrayAgg struct {
	elem   *value.Type
	nested bool
	all    []value.Datum
	heap   expr.Heap
}

// Add implements Aggregator.
func (g *arrayAgg) Add(_ *expr.Env, a []value.Datum) error {
	if g.nested {
		if err := g.check(a[0]); err != nil {
			return err
		}
	}
	g.all = append(g.all, a[0])
	return g.heap.Keep(a[:1])
}

// check returns an error if an array cannot be a part of the result.
func (g *arrayAgg) check(d value.Datum) error {
	part, _ := d.(*value.Array)
	switch {
	case part == nil:
		return pgerror.New(pgerror.NullNotAllowed, "cannot accumulate null arrays")
	case len(part.Dims) == 0:
		return pgerror.New(value.ArraySubscriptError, "cannot accumulate empty arrays")
	case len(g.all) > 0 && !value.SameDims(g.all[0].(*value.Array).Dims, part.Dims):
		return pgerror.New(value.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
	}
	return nil
}

// Result implements Aggregator.
func (g *arrayAgg) Result(*expr.Env) (value.Datum, error) {
	switch {
	case len(g.all) == 0:
		return nil, nil
	case g.nested:
		return value.NestArrays(g.elem, g.all)
	}
	return value.NewArray(g.elem, g.all), nil
}

// stringAgg implements string_agg. Each delimiter precedes its value.
type stringAgg struct {
	so  []byte
	any bool
}

// Add implements Aggregator.
func (g *stringAgg) Add(_ *expr.Env, a []value.Datum) error {
	if a[0] == nil {
		return nil
	}
	if g.any && a[1] != nil {
		g.so = append(g.so, a[1].(string)...)
	}
	g.so, g.any = append(g.so, a[0].(string)...), true
	if len(g.so) > text.MaxText {
		return text.ErrTooLong()
	}
	return nil
}

// Result implements Aggregator.
func (g *stringAgg) Result(*expr.Env) (value.Datum, error) {
	if !g.any {
		return nil, nil
	}
	return string(g.so), nil
}

func bitwise(f func(a, b int64) int64) expr.Implementation {
	return foldingOf(func(a, b value.Datum) (value.Datum, error) { return f(a.(int64), b.(int64)), nil })
}

func addAggregates(to expr.Table) {
	all := map[string]expr.Implementation{
		"count": {Aggregate: func() expr.Aggregator { return &counter{} }},
		"min":   {Bind: extreme(false)}, "max": {Bind: extreme(true)},
		"bool_and":              foldingOf(func(a, b value.Datum) (value.Datum, error) { return a.(bool) && b.(bool), nil }),
		"bool_or":               foldingOf(func(a, b value.Datum) (value.Datum, error) { return a.(bool) || b.(bool), nil }),
		"sum(interval)":         foldingOf(addIntervals),
		"avg(interval)":         {Aggregate: func() expr.Aggregator { return &intervalAverage{folding: folding{join: addIntervals}} }},
		"string_agg(text,text)": {Aggregate: func() expr.Aggregator { return &stringAgg{} }},
		"array_agg": {Bind: func(args []*value.Type, returns *value.Type) (expr.Bound, error) {
			return expr.Bound{Aggregate: func() expr.Aggregator { return &arrayAgg{elem: returns.Elem, nested: args[0].IsArray()} }}, nil
		}},
	}
	all["every"] = all["bool_and"]
	for _, t := range []string{"int2", "int4", "int8"} {
		all["bit_and("+t+")"] = bitwise(func(a, b int64) int64 { return a & b })
		all["bit_or("+t+")"] = bitwise(func(a, b int64) int64 { return a | b })
		all["bit_xor("+t+")"] = bitwise(func(a, b int64) int64 { return a ^ b })
	}
	for _, t := range []string{"int2", "int4", "int8", "numeric"} {
		small := t == "int2" || t == "int4"
		all["sum("+t+")"] = expr.Implementation{Aggregate: func() expr.Aggregator { return &sum{asInt: small} }}
		all["avg("+t+")"] = expr.Implementation{Aggregate: func() expr.Aggregator { return &sum{average: true} }}
		for name, d := range map[string]deviation{
			"variance": {}, "var_samp": {}, "var_pop": {population: true}, "stddev": {root: true}, "stddev_samp": {root: true},
			"stddev_pop": {population: true, root: true},
		} {
			all[name+"("+t+")"] = expr.Implementation{Aggregate: func() expr.Aggregator { fresh := d; return &fresh }}
		}
	}
	for _, t := range []string{"float4", "float8"} {
		for name, result := range floatResults {
			single := t == "float4" && name == "sum"
			all[name+"("+t+")"] = expr.Implementation{Aggregate: func() expr.Aggregator { return &floatSum{single: single, result: result} }}
		}
	}
	for name, impl := range all {
		to[expr.AggregatePrefix+name] = impl
	}
}

// floatResults maps the aggregates of floats to their final functions.
var floatResults = func() map[string]func(f *floatSum) value.Datum {
	variance := func(less float64, root bool) func(f *floatSum) value.Datum {
		return func(f *floatSum) value.Datum {
			if f.n <= less {
				return nil
			}
			v := f.sxx / (f.n - less)
			if root {
				v = math.Sqrt(v)
			}
			return v
		}
	}
	return map[string]func(f *floatSum) value.Datum{
		"sum": func(f *floatSum) value.Datum { return f.sx }, "avg": func(f *floatSum) value.Datum { return f.sx / f.n },
		"variance": variance(1, false), "var_samp": variance(1, false), "var_pop": variance(0, false),
		"stddev": variance(1, true), "stddev_samp": variance(1, true), "stddev_pop": variance(0, true),
	}
}()
