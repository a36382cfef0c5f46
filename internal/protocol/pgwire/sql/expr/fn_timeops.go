package expr

import (
	"strings"

	"fiveways/internal/protocol/pgwire/sql/value"
)

// overlap is OVERLAPS: each pair is put into order, and a pair of one moment counts as that moment.
func overlap[T ~int64](env *Env, a []value.Datum, add func(env *Env, t T, i interval) (T, error)) (value.Datum, error) {
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

// overlapping is PostgreSQL's overlaps_timestamp, with its ways of getting along with NULLs.
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

func overlapStamps(env *Env, a []value.Datum) (value.Datum, error) {
	return overlap(env, a, func(_ *Env, t stamp, i interval) (stamp, error) { return t.Add(i) })
}

func overlapInstants(env *Env, a []value.Datum) (value.Datum, error) {
	return overlap(env, a, func(env *Env, t instant, i interval) (instant, error) { return t.Add(i, &env.Settings) })
}

func overlapClocks(env *Env, a []value.Datum) (value.Datum, error) {
	return overlap(env, a, func(_ *Env, t clock, i interval) (clock, error) { return onClock(int64(t) + i.Micros), nil })
}

// stampMath and the like are what operators on times do with their two operands.
func stampMath(f func(t stamp, i interval) (value.Datum, error)) callFunc {
	return func(_ *Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return f(a[1].(stamp), i)
		}
		return f(a[0].(stamp), a[1].(interval))
	}
}

func instantMath(f func(env *Env, t instant, i interval) (value.Datum, error)) callFunc {
	return func(env *Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return f(env, a[1].(instant), i)
		}
		return f(env, a[0].(instant), a[1].(interval))
	}
}

func dateMath(f func(d date, i interval) (value.Datum, error)) callFunc {
	return func(_ *Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return f(a[1].(date), i)
		}
		return f(a[0].(date), a[1].(interval))
	}
}

func clockMath(sign int64) callFunc {
	return func(_ *Env, a []value.Datum) (value.Datum, error) {
		if i, ok := a[0].(interval); ok {
			return onClock(int64(a[1].(clock)) + i.Micros%microsPerDay), nil
		}
		return onClock(int64(a[0].(clock)) + sign*(a[1].(interval).Micros%microsPerDay)), nil
	}
}

// dateAndTime is date + time.
func dateAndTime(_ *Env, a []value.Datum) (value.Datum, error) {
	d, c := a[0], a[1]
	if t, ok := d.(clock); ok {
		d, c = a[1], t
	}
	s, err := midnight(d.(date))
	if err != nil || s.IsInfinite() {
		return datum(s, err)
	}
	return datum(value.TimestampOf(d.(date), c.(clock)))
}

// today is the day on which the transaction began.
func today(env *Env) stamp {
	d, _ := env.Now.Local(env.Settings.Zone).Split()
	s, _ := value.TimestampOf(d, 0) // the clock is never out of range
	return s
}

func init() {
	plus := func(t stamp, i interval) (value.Datum, error) { return datum(t.Add(i)) }
	take := func(t stamp, i interval) (value.Datum, error) {
		back, err := minus(i)
		if err != nil {
			return nil, err
		}
		return datum(t.Add(back))
	}
	calls(map[string]callFunc{
		"timestamp_pl_interval": stampMath(plus), "interval_pl_timestamp": stampMath(plus), "timestamp_mi_interval": stampMath(take),
		"timestamptz_pl_interval": instantMath(zoneAdd), "interval_pl_timestamptz": instantMath(zoneAdd),
		"timestamptz_mi_interval": instantMath(func(env *Env, t instant, i interval) (value.Datum, error) {
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
		"timestamp_mi": func(_ *Env, a []value.Datum) (value.Datum, error) {
			if l, ok := a[0].(instant); ok {
				return between(stamp(l), stamp(a[1].(instant)))
			}
			return between(a[0].(stamp), a[1].(stamp))
		},
		"date_mi":          dateMinus,
		"date_pli":         func(_ *Env, a []value.Datum) (value.Datum, error) { return datePlus(a[0].(date), a[1].(int64)) },
		"date_mii":         func(_ *Env, a []value.Datum) (value.Datum, error) { return datePlus(a[0].(date), -a[1].(int64)) },
		"integer_pl_date":  func(_ *Env, a []value.Datum) (value.Datum, error) { return datePlus(a[1].(date), a[0].(int64)) },
		"time_pl_interval": clockMath(1), "interval_pl_time": clockMath(1), "time_mi_interval": clockMath(-1),
		"time_mi_time": func(_ *Env, a []value.Datum) (value.Datum, error) {
			return interval{Micros: int64(a[0].(clock)) - int64(a[1].(clock))}, nil
		},
		"datetime_timestamp": dateAndTime, "timedate_pl": dateAndTime,
		"timestamp_age": func(_ *Env, a []value.Datum) (value.Datum, error) { return age(a[0].(stamp), a[1].(stamp)) },
		"timestamptz_age": func(env *Env, a []value.Datum) (value.Datum, error) {
			zone := env.Settings.Zone
			return age(a[0].(instant).Local(zone), a[1].(instant).Local(zone))
		},
		"age(timestamp)": func(env *Env, a []value.Datum) (value.Datum, error) { return age(today(env), a[0].(stamp)) },
		"age(timestamptz)": func(env *Env, a []value.Datum) (value.Datum, error) {
			return age(today(env), a[0].(instant).Local(env.Settings.Zone))
		},
		"make_date": makeDate,
		"make_time": func(_ *Env, a []value.Datum) (value.Datum, error) {
			return datum(makeTime(a[0].(int64), a[1].(int64), a[2].(float64)))
		},
		"make_timestamp": func(_ *Env, a []value.Datum) (value.Datum, error) { return datum(makeStamp(a)) },
		"make_timestamptz": func(env *Env, a []value.Datum) (value.Datum, error) {
			s, err := makeStamp(a)
			return datum(s.In(env.Settings.Zone), err)
		},
		"float8_timestamptz": stampOfSeconds,
		"timestamp_bin": func(_ *Env, a []value.Datum) (value.Datum, error) {
			return datum(bin(a[0].(interval), a[1].(stamp), a[2].(stamp)))
		},
		"timestamptz_bin": func(_ *Env, a []value.Datum) (value.Datum, error) {
			s, err := bin(a[0].(interval), stamp(a[1].(instant)), stamp(a[2].(instant)))
			return datum(instant(s), err)
		},
		"date_finite": func(_ *Env, a []value.Datum) (value.Datum, error) { return !a[0].(date).IsInfinite(), nil },
		"timestamp_finite": func(_ *Env, a []value.Datum) (value.Datum, error) {
			if t, ok := a[0].(instant); ok {
				return !t.IsInfinite(), nil
			}
			return !a[0].(stamp).IsInfinite(), nil
		},
	})
	for name, f := range map[string]callFunc{"timestamp": overlapStamps, "timestamptz": overlapInstants, "time": overlapClocks} {
		short := strings.TrimSuffix(name, "tz")
		for _, ends := range []string{"interval,%s,interval", "%s,%s,interval", "interval,%s,%s"} {
			implementations["overlaps("+name+","+strings.ReplaceAll(ends, "%s", name)+")"] = implementation{call: f}
		}
		implementations["overlaps_"+short+"("+name+","+name+","+name+","+name+")"] = implementation{call: f}
	}
}
