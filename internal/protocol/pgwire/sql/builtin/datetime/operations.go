package datetime

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// overlap implements OVERLAPS. It orders each pair; a pair with a single moment counts as that
// moment.
func overlap[T ~int64](env *expr.Env, a []value.Datum, add func(env *expr.Env, t T, i interval) (T, error)) (value.Datum, error) {
	var ends [4]*T
	for i := 0; i < 4; i += 2 {
		start, ok := a[i].(T)
		if ok {
			ends[i] = &start
		}
		switch end := a[i+1].(type) {
		case T:
			ends[i+1] = &end
		case interval:
			if ends[i] == nil {
				continue
			}
			sum, err := add(env, start, end)
			if err != nil {
				return nil, err
			}
			ends[i+1] = &sum
		}
	}
	return overlapping(ends[0], ends[1], ends[2], ends[3]), nil
}

// overlapping follows PostgreSQL's overlaps_timestamp, including its treatment of NULLs.
func overlapping[T ~int64](start1, end1, start2, end2 *T) value.Datum {
	order := func(start, end *T) (*T, *T, bool) {
		switch {
		case start == nil && end == nil:
			return nil, nil, false
		case start == nil:
			return end, nil, true
		case end != nil && *start > *end:
			return end, start, true
		}
		return start, end, true
	}
	start1, end1, ok1 := order(start1, end1)
	start2, end2, ok2 := order(start2, end2)
	if !ok1 || !ok2 {
		return nil
	}
	switch {
	case *start1 > *start2:
		start1, end1, start2, end2 = start2, end2, start1, end1
	case *start1 == *start2:
		if end1 == nil || end2 == nil {
			return nil
		}
		return true
	}
	if end1 == nil {
		return nil
	}
	if *start2 < *end1 {
		return true
	}
	if end2 == nil {
		return nil
	}
	return false
}

func overlapStamps(env *expr.Env, a []value.Datum) (value.Datum, error) {
	return overlap(env, a, func(_ *expr.Env, t stamp, i interval) (stamp, error) { return t.Add(i) })
}

func overlapInstants(env *expr.Env, a []value.Datum) (value.Datum, error) {
	return overlap(env, a, func(env *expr.Env, t instant, i interval) (instant, error) { return t.Add(i, env.Settings.Zone) })
}

func overlapClocks(env *expr.Env, a []value.Datum) (value.Datum, error) {
	return overlap(env, a, func(_ *expr.Env, t clock, i interval) (clock, error) { return onClock(int64(t) + i.Micros), nil })
}

// stampMath and similar functions adapt operators on times to CallFunc.
func stampMath(f func(t stamp, i interval) (value.Datum, error)) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return f(a[1].(stamp), i)
		}
		return f(a[0].(stamp), a[1].(interval))
	}
}

func instantMath(f func(env *expr.Env, t instant, i interval) (value.Datum, error)) expr.CallFunc {
	return func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return f(env, a[1].(instant), i)
		}
		return f(env, a[0].(instant), a[1].(interval))
	}
}

func dateMath(f func(d date, i interval) (value.Datum, error)) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return f(a[1].(date), i)
		}
		return f(a[0].(date), a[1].(interval))
	}
}

func clockMath(sign int64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return onClock(int64(a[1].(clock)) + i.Micros%temporal.MicrosPerDay), nil
		}
		return onClock(int64(a[0].(clock)) + sign*(a[1].(interval).Micros%temporal.MicrosPerDay)), nil
	}
}

// dateAndTime implements date + time.
func dateAndTime(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	d, c := a[0], a[1]
	if t, ok := d.(clock); ok {
		d, c = a[1], t
	}
	s, err := midnight(d.(date))
	if err != nil || s.IsInfinite() {
		return value.Result(s, err)
	}
	return value.Result(temporal.TimestampOf(d.(date), c.(clock)))
}

// today returns the start of the day on which the transaction began.
func today(env *expr.Env) stamp {
	d, _ := env.Now.Local(env.Settings.Zone).Split()
	s, _ := temporal.TimestampOf(d, 0) // the clock is never out of range
	return s
}

func addTimeOperations(to expr.Table) {
	plus := func(t stamp, i interval) (value.Datum, error) { return value.Result(t.Add(i)) }
	take := func(t stamp, i interval) (value.Datum, error) {
		back, err := minus(i)
		if err != nil {
			return nil, err
		}
		return value.Result(t.Add(back))
	}
	to.Calls(map[string]expr.CallFunc{
		"timestamp_pl_interval": stampMath(plus), "interval_pl_timestamp": stampMath(plus), "timestamp_mi_interval": stampMath(take),
		"timestamptz_pl_interval": instantMath(zoneAdd), "interval_pl_timestamptz": instantMath(zoneAdd),
		"timestamptz_mi_interval": instantMath(func(env *expr.Env, t instant, i interval) (value.Datum, error) {
			back, err := minus(i)
			if err != nil {
				return nil, err
			}
			return zoneAdd(env, t, back)
		}),
		"date_pl_interval": dateMath(datePlusInterval), "interval_pl_date": dateMath(datePlusInterval),
		"date_mi_interval": dateMath(func(d date, i interval) (value.Datum, error) {
			back, err := minus(i)
			if err != nil {
				return nil, err
			}
			return datePlusInterval(d, back)
		}),
		"timestamp_mi": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			if l, ok := a[0].(instant); ok {
				return between(stamp(l), stamp(a[1].(instant)))
			}
			return between(a[0].(stamp), a[1].(stamp))
		},
		"date_mi":          dateMinus,
		"date_pli":         func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return datePlus(a[0].(date), a[1].(int64)) },
		"date_mii":         func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return datePlus(a[0].(date), -a[1].(int64)) },
		"integer_pl_date":  func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return datePlus(a[1].(date), a[0].(int64)) },
		"time_pl_interval": clockMath(1), "interval_pl_time": clockMath(1), "time_mi_interval": clockMath(-1),
		"time_mi_time": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return interval{Micros: int64(a[0].(clock)) - int64(a[1].(clock))}, nil
		},
		"datetime_timestamp": dateAndTime, "timedate_pl": dateAndTime,
		"timestamp_age": func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return age(a[0].(stamp), a[1].(stamp)) },
		"timestamptz_age": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			zone := env.Settings.Zone
			return age(a[0].(instant).Local(zone), a[1].(instant).Local(zone))
		},
		"age(timestamp)": func(env *expr.Env, a []value.Datum) (value.Datum, error) { return age(today(env), a[0].(stamp)) },
		"age(timestamptz)": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			return age(today(env), a[0].(instant).Local(env.Settings.Zone))
		},
		"make_date": makeDate,
		"make_time": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(makeTime(a[0].(int64), a[1].(int64), a[2].(float64)))
		},
		"make_timestamp": func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return value.Result(makeStamp(a)) },
		"make_timestamptz": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			s, err := makeStamp(a)
			return value.Result(s.In(env.Settings.Zone), err)
		},
		"float8_timestamptz": stampOfSeconds,
		"timestamp_bin": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(bin(a[0].(interval), a[1].(stamp), a[2].(stamp)))
		},
		"timestamptz_bin": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			s, err := bin(a[0].(interval), stamp(a[1].(instant)), stamp(a[2].(instant)))
			return value.Result(instant(s), err)
		},
		"date_finite": func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return !a[0].(date).IsInfinite(), nil },
		"timestamp_finite": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			if t, ok := a[0].(instant); ok {
				return !t.IsInfinite(), nil
			}
			return !a[0].(stamp).IsInfinite(), nil
		},
	})
	for name, f := range map[string]expr.CallFunc{"timestamp": overlapStamps, "timestamptz": overlapInstants, "time": overlapClocks} {
		short := strings.TrimSuffix(name, "tz")
		for _, ends := range []string{"interval,%s,interval", "%s,%s,interval", "interval,%s,%s"} {
			to["overlaps("+name+","+strings.ReplaceAll(ends, "%s", name)+")"] = expr.Implementation{Call: f}
		}
		to["overlaps_"+short+"("+name+","+name+","+name+","+name+")"] = expr.Implementation{Call: f}
	}
}
