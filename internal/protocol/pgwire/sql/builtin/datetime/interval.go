package datetime

import (
	"math"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

type interval = temporal.Interval

const secondsPerDay = 86400

func errInterval() error { return pgerror.New(pgerror.DatetimeOverflow, "interval out of range") }

func interval1(f func(i interval) (interval, error)) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return value.Result(f(a[0].(interval))) }
}

// IntervalPlus returns a + b.
func IntervalPlus(a, b interval) (interval, error) {
	micros, ok := value.AddInt(a.Micros, b.Micros)
	months, days := int64(a.Months)+int64(b.Months), int64(a.Days)+int64(b.Days)
	if !ok || !value.FitsInt(value.Int4, months) || !value.FitsInt(value.Int4, days) {
		return interval{}, errInterval()
	}
	return interval{Months: int32(months), Days: int32(days), Micros: micros}, nil
}

func intervalMinus(a, b interval) (interval, error) {
	micros, ok := value.SubInt(a.Micros, b.Micros)
	months, days := int64(a.Months)-int64(b.Months), int64(a.Days)-int64(b.Days)
	if !ok || !value.FitsInt(value.Int4, months) || !value.FitsInt(value.Int4, days) {
		return interval{}, errInterval()
	}
	return interval{Months: int32(months), Days: int32(days), Micros: micros}, nil
}

func intervalNegate(i interval) (interval, error) {
	return intervalMinus(interval{}, i)
}

// toMicros rounds seconds or days to six decimal places, like PostgreSQL's TSROUND.
func toMicros(f float64) float64 { return math.RoundToEven(f*1e6) / 1e6 }

// intervalTimes multiplies or divides with times. Fractions of a month become days, and fractions
// of a day become time.
func intervalTimes(i interval, times func(float64) float64) (interval, error) {
	months, days := times(float64(i.Months)), times(float64(i.Days))
	if !inInt32(months) || !inInt32(days) {
		return interval{}, errInterval()
	}
	made := interval{Months: int32(months), Days: int32(days)}
	restDays := toMicros((months - float64(made.Months)) * temporal.DaysPerMonth)
	restSeconds := toMicros((days - float64(made.Days) + restDays - math.Trunc(restDays)) * secondsPerDay)
	if math.Abs(restSeconds) >= secondsPerDay {
		whole := math.Trunc(restSeconds / secondsPerDay)
		made.Days += int32(whole)
		restSeconds -= whole * secondsPerDay
	}
	made.Days += int32(restDays)
	micros := math.RoundToEven(times(float64(i.Micros)) + restSeconds*1e6)
	if math.IsNaN(micros) || micros < math.MinInt64 || micros >= math.MaxInt64 {
		return interval{}, errInterval()
	}
	made.Micros = int64(micros)
	return made, nil
}

func inInt32(f float64) bool { return f <= math.MaxInt32 && f >= math.MinInt32 }

func intervalMul(i interval, f float64) (interval, error) {
	return intervalTimes(i, func(x float64) float64 { return x * f })
}

// IntervalDiv returns i / f. A division by zero is an error.
func IntervalDiv(i interval, f float64) (interval, error) {
	if f == 0 {
		return interval{}, pgerror.DividedByZero()
	}
	return intervalTimes(i, func(x float64) float64 { return x / f })
}

func justifyHours(i interval) (interval, error) {
	days, micros := carry(int64(i.Days), i.Micros, temporal.MicrosPerDay)
	if !value.FitsInt(value.Int4, days) {
		return i, errInterval()
	}
	i.Days, i.Micros = int32(days), micros
	return i, nil
}

func justifyDays(i interval) (interval, error) {
	months, days := carry(int64(i.Months), int64(i.Days), temporal.DaysPerMonth)
	if !value.FitsInt(value.Int4, months) {
		return i, errInterval()
	}
	i.Months, i.Days = int32(months), int32(days)
	return i, nil
}

// carry moves whole units from part to large, per units of part each, so that both have the same
// sign.
func carry(large, part, per int64) (int64, int64) {
	large, part = large+part/per, part%per
	switch {
	case large > 0 && part < 0:
		return large - 1, part + per
	case large < 0 && part > 0:
		return large + 1, part - per
	}
	return large, part
}

func justifyInterval(i interval) (interval, error) {
	days := int64(i.Days) + i.Micros/temporal.MicrosPerDay
	micros := i.Micros % temporal.MicrosPerDay
	months := int64(i.Months) + days/temporal.DaysPerMonth
	days %= temporal.DaysPerMonth
	switch {
	case months > 0 && (days < 0 || days == 0 && micros < 0):
		days, months = days+temporal.DaysPerMonth, months-1
	case months < 0 && (days > 0 || days == 0 && micros > 0):
		days, months = days-temporal.DaysPerMonth, months+1
	}
	days, micros = carry(days, micros, temporal.MicrosPerDay)
	if !value.FitsInt(value.Int4, months) {
		return i, errInterval()
	}
	return interval{Months: int32(months), Days: int32(days), Micros: micros}, nil
}

// makeInterval implements make_interval(years, months, weeks, days, hours, mins, secs).
func makeInterval(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	n := func(i int) int64 { return a[i].(int64) }
	seconds := a[6].(float64)
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return nil, errInterval()
	}
	months, days := n(0)*12+n(1), n(2)*7+n(3)
	micros := math.RoundToEven(seconds * 1e6)
	if !value.FitsInt(value.Int4, months) || !value.FitsInt(value.Int4, days) || math.Abs(micros) >= math.MaxInt64 {
		return nil, errInterval()
	}
	total, ok := value.AddInt(n(4)*temporal.MicrosPerHour+n(5)*temporal.MicrosPerMinute, int64(micros))
	if !ok {
		return nil, errInterval()
	}
	return interval{Months: int32(months), Days: int32(days), Micros: total}, nil
}

func intervals(f func(a, b interval) (interval, error)) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		return value.Result(f(a[0].(interval), a[1].(interval)))
	}
}

func addIntervalFunctions(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"interval_pl": intervals(IntervalPlus), "interval_mi": intervals(intervalMinus), "interval_um": interval1(intervalNegate),
		"interval_mul": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(intervalMul(a[0].(interval), a[1].(float64)))
		},
		"mul_d_interval": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(intervalMul(a[1].(interval), a[0].(float64)))
		},
		"interval_div": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(IntervalDiv(a[0].(interval), a[1].(float64)))
		},
		"interval_justify_hours": interval1(justifyHours), "interval_justify_days": interval1(justifyDays),
		"interval_justify_interval": interval1(justifyInterval), "make_interval": makeInterval,
		"interval_finite": func(*expr.Env, []value.Datum) (value.Datum, error) { return true, nil },
		"interval_larger": intervals(func(a, b interval) (interval, error) {
			if a.Compare(b) > 0 {
				return a, nil
			}
			return b, nil
		}),
		"interval_smaller": intervals(func(a, b interval) (interval, error) {
			if a.Compare(b) < 0 {
				return a, nil
			}
			return b, nil
		}),
	})
}
