package series

import (
	"iter"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func errStep() error {
	return pgerror.New(pgerror.InvalidParameterValue, "step size cannot equal zero")
}

// failing returns a row sequence that yields only an error.
func failing(err error) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) { yield(nil, err) }
}

func intSeries(t *value.Type) expr.RowsFunc {
	return func(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		from, to, step := a[0].(int64), a[1].(int64), int64(1)
		if len(a) > 2 {
			step = a[2].(int64)
		}
		if step == 0 {
			return failing(errStep())
		}
		return func(yield func([]value.Datum, error) bool) {
			for n, ok := from, true; ok && value.FitsInt(t, n) && (step > 0 && n <= to || step < 0 && n >= to); n, ok = value.AddInt(n, step) {
				if !yield([]value.Datum{n}, nil) {
					return
				}
			}
		}
	}
}

func numericSeries(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
	from, to, step := a[0].(numeric.Number), a[1].(numeric.Number), numeric.FromInt(1)
	if len(a) > 2 {
		step = a[2].(numeric.Number)
	}
	for i, name := range []string{"start value", "stop value", "step size"} {
		n := []numeric.Number{from, to, step}[i]
		if n.IsNaN() {
			return failing(pgerror.New(pgerror.InvalidParameterValue, "%s cannot be NaN", name))
		}
		if n.IsInf() {
			return failing(pgerror.New(pgerror.InvalidParameterValue, "%s cannot be infinity", name))
		}
	}
	if step.Sign() == 0 {
		return failing(errStep())
	}
	return func(yield func([]value.Datum, error) bool) {
		for n := from; n.Cmp(to)*step.Sign() <= 0; {
			if !yield([]value.Datum{n}, nil) {
				return
			}
			var err error
			if n, err = n.Add(step); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// timeSeries returns the series function for timestamps with or without time zone.
func timeSeries[T ~int64](add func(env *expr.Env, t T, i temporal.Interval) (T, error)) expr.RowsFunc {
	return func(env *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		from, to, step := a[0].(T), a[1].(T), a[2].(temporal.Interval)
		sign := step.Compare(temporal.Interval{})
		if sign == 0 {
			return failing(errStep())
		}
		return func(yield func([]value.Datum, error) bool) {
			for t := from; sign > 0 && t <= to || sign < 0 && t >= to; {
				if !yield([]value.Datum{t}, nil) {
					return
				}
				var err error
				if t, err = add(env, t, step); err != nil {
					yield(nil, err)
					return
				}
			}
		}
	}
}

func addAllSeries(to expr.Table) {
	to.Sets(map[string]expr.RowsFunc{
		"generate_series_int4": intSeries(value.Int4), "generate_series_step_int4": intSeries(value.Int4),
		"generate_series_int8": intSeries(value.Int8), "generate_series_step_int8": intSeries(value.Int8),
		"generate_series_numeric": numericSeries, "generate_series_step_numeric": numericSeries,
		"generate_series_timestamp": timeSeries(func(_ *expr.Env, t temporal.Timestamp, i temporal.Interval) (temporal.Timestamp, error) {
			return t.Add(i)
		}),
		"generate_series_timestamptz": timeSeries(func(env *expr.Env, t temporal.TimestampTZ, i temporal.Interval) (temporal.TimestampTZ, error) {
			return t.Add(i, env.Settings.Zone)
		}),
	})
}
