package expr

import (
	"iter"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/value"
)

func errStep() error {
	return pgerror.New(pgerror.InvalidParameterValue, "step size cannot equal zero")
}

// failing is rows that are an error.
func failing(err error) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) { yield(nil, err) }
}

func intSeries(t *value.Type) rowsFunc {
	return func(_ *Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		from, to, step := a[0].(int64), a[1].(int64), int64(1)
		if len(a) > 2 {
			step = a[2].(int64)
		}
		if step == 0 {
			return failing(errStep())
		}
		return func(yield func([]value.Datum, error) bool) {
			for n, ok := from, true; ok && fits(t, n) && (step > 0 && n <= to || step < 0 && n >= to); n, ok = addInt(n, step) {
				if !yield([]value.Datum{n}, nil) {
					return
				}
			}
		}
	}
}

func numericSeries(_ *Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
	from, to, step := a[0].(number), a[1].(number), value.NumericFromInt(1)
	if len(a) > 2 {
		step = a[2].(number)
	}
	for i, name := range []string{"start", "stop", "step"} {
		n := []number{from, to, step}[i]
		if n.IsNaN() {
			return failing(pgerror.New(pgerror.InvalidParameterValue, "%s value cannot be NaN", seriesName(name)))
		}
		if n.IsInf() {
			return failing(pgerror.New(pgerror.InvalidParameterValue, "%s value cannot be infinity", seriesName(name)))
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

func seriesName(name string) string {
	if name == "step" {
		return "step size"
	}
	return name
}

// timeSeries makes the series of timestamps and of instants.
func timeSeries[T ~int64](add func(env *Env, t T, i interval) (T, error)) rowsFunc {
	return func(env *Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
		from, to, step := a[0].(T), a[1].(T), a[2].(interval)
		sign := step.Compare(interval{})
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

func init() {
	sets(map[string]rowsFunc{
		"generate_series_int4": intSeries(value.Int4), "generate_series_step_int4": intSeries(value.Int4),
		"generate_series_int8": intSeries(value.Int8), "generate_series_step_int8": intSeries(value.Int8),
		"generate_series_numeric": numericSeries, "generate_series_step_numeric": numericSeries,
		"generate_series_timestamp":   timeSeries(func(_ *Env, t stamp, i interval) (stamp, error) { return t.Add(i) }),
		"generate_series_timestamptz": timeSeries(func(env *Env, t instant, i interval) (instant, error) { return t.Add(i, &env.Settings) }),
	})
}
