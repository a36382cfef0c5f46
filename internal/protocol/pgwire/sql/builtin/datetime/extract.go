package datetime

import (
	"math"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// fieldValue is a field of a time: n / 10**scale. If whole is set, it is n + part/whole, with many
// digits.
type fieldValue struct {
	n     int64
	scale int

	part, whole int64
}

func (f fieldValue) numeric() (value.Datum, error) {
	if f.whole == 0 {
		return scaled(f.n, f.scale), nil
	}
	q, err := numeric.FromInt(f.part).Div(numeric.FromInt(f.whole))
	if err != nil {
		return nil, err
	}
	return value.Result(numeric.FromInt(f.n).Add(q))
}

func (f fieldValue) float() value.Datum {
	if f.whole != 0 {
		return float64(f.n) + float64(f.part)/float64(f.whole)
	}
	return float64(f.n) / math.Pow10(f.scale)
}

// scaled returns n / 10**scale, with exactly scale digits after the decimal point.
func scaled(n int64, scale int) numeric.Number {
	d := numeric.FromInt(n)
	if scale == 0 {
		return d
	}
	q, _ := d.Mul(powerOfTen(-scale)) // within the range of numeric
	return q
}

// powerOfTen returns 10**n for n from -6 to 0.
func powerOfTen(n int) numeric.Number {
	p, _ := numeric.Parse([]string{"1", "0.1", "0.01", "0.001", "0.0001", "0.00001", "0.000001"}[-n])
	return p
}

// clockField returns a field of a time of day. ok is false if there is no such field.
func clockField(unit string, micros int64) (f fieldValue, ok bool) {
	inMinute := micros % temporal.MicrosPerMinute
	switch unit {
	case "microsecond":
		return fieldValue{n: inMinute}, true
	case "millisecond":
		return fieldValue{n: inMinute, scale: 3}, true
	case "second":
		return fieldValue{n: inMinute, scale: 6}, true
	case "minute":
		return fieldValue{n: micros / temporal.MicrosPerMinute % 60}, true
	case "hour":
		return fieldValue{n: micros / temporal.MicrosPerHour}, true
	}
	return f, false
}

// ISOWeek returns the ISO week of a day and the year that the week belongs to.
func ISOWeek(d date) (year, week int) {
	thursday := d + date(3-(d.Weekday()+6)%7)
	year, _, _ = thursday.Civil()
	return year, int(thursday-temporal.DateOf(year, 1, 1))/7 + 1
}

// beforeChrist converts an astronomical year, with a year 0, to one without.
func beforeChrist(year int) int64 {
	if year <= 0 {
		return int64(year) - 1
	}
	return int64(year)
}

// dateField returns a field of a date.
func dateField(unit string, d date) (f fieldValue, ok bool) {
	year, month, day := d.Civil()
	n := int64(0)
	switch unit {
	case "day":
		n = int64(day)
	case "month":
		n = int64(month)
	case "quarter":
		n = int64((month-1)/3 + 1)
	case "year":
		n = beforeChrist(year)
	case "decade":
		n = int64(year / 10)
		if year < 0 {
			n = -int64((8 - (year - 1)) / 10)
		}
	case "century":
		n = int64((year + 99) / 100)
		if year <= 0 {
			n = -int64((99 - (year - 1)) / 100)
		}
	case "millennium":
		n = int64((year + 999) / 1000)
		if year <= 0 {
			n = -int64((999 - (year - 1)) / 1000)
		}
	case "week":
		_, w := ISOWeek(d)
		n = int64(w)
	case "isoyear":
		y, _ := ISOWeek(d)
		n = beforeChrist(y)
	case "dow":
		n = int64(d.Weekday())
	case "isodow":
		n = int64((d.Weekday()+6)%7 + 1)
	case "doy":
		n = int64(d-temporal.DateOf(year, 1, 1)) + 1
	case "julian":
		n = int64(d - temporal.MinDate)
	default:
		return f, false
	}
	return fieldValue{n: n}, true
}

// epochMicros is 1970-01-01 in timestamp units.
const epochMicros = -10957 * temporal.MicrosPerDay

// stampField returns a field of a timestamp.
func stampField(unit string, t stamp) (fieldValue, bool) {
	d, c := t.Split()
	switch unit {
	case "epoch":
		return fieldValue{n: int64(t) - epochMicros, scale: 6}, true
	case "julian":
		return fieldValue{n: int64(d - temporal.MinDate), part: int64(c), whole: temporal.MicrosPerDay}, true
	}
	if f, ok := clockField(unit, int64(c)); ok {
		return f, true
	}
	return dateField(unit, d)
}

// intervalField returns a field of an interval. Its sign is that of the interval's part.
func intervalField(unit string, i interval) (fieldValue, bool) {
	year, month := int64(i.Months/12), int64(i.Months%12)
	if f, ok := clockField(unit, i.Micros); ok {
		return f, true
	}
	n := int64(0)
	switch unit {
	case "day":
		n = int64(i.Days)
	case "month":
		n = month
	case "quarter":
		n = month/3 + 1
	case "year":
		n = year
	case "decade":
		n = year / 10
	case "century":
		n = year / 100
	case "millennium":
		n = year / 1000
	case "epoch": // a year has 365.25 days here; computed in quarter days to stay integral
		quarters := 4*36525*year/100 + 4*temporal.DaysPerMonth*month + 4*int64(i.Days)
		return fieldValue{n: quarters*(secondsPerDay/4)*temporal.MicrosPerSecond + i.Micros, scale: 6}, true
	default:
		return fieldValue{}, false
	}
	return fieldValue{n: n}, true
}

// infiniteField returns a field of an infinite time: infinite for a field that grows monotonically,
// otherwise NULL.
func infiniteField(unit string, negative bool) (d value.Datum, grows bool) {
	switch unit {
	case "year", "decade", "century", "millennium", "julian", "isoyear", "epoch":
		if negative {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	return nil, false
}

// fields returns a field, or reports that the value is infinite.
type fields func(env *expr.Env, unit string, d value.Datum) (f fieldValue, ok, infinite, negative bool)

// extractor implements extract and date_part for a type.
func extractor(t *value.Type, get fields, asFloat bool) expr.CallFunc {
	return func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		name := a[0].(string)
		unit, err := unitOf(name, t)
		if err != nil {
			return nil, err
		}
		f, ok, infinite, negative := get(env, unit, a[1])
		if !ok {
			return nil, errUnit(name, t)
		}
		if infinite {
			d, grows := infiniteField(unit, negative)
			if !grows {
				return nil, nil
			}
			if asFloat {
				return d, nil
			}
			return numeric.FromFloat(d.(float64), numeric.Float8Digits), nil
		}
		if asFloat {
			return f.float(), nil
		}
		return f.numeric()
	}
}

func isZoneUnit(unit string) bool { return strings.HasPrefix(unit, "timezone") }

func stampFields(_ *expr.Env, unit string, d value.Datum) (f fieldValue, ok, infinite, negative bool) {
	t := d.(stamp)
	if t.IsInfinite() {
		_, ok = stampField(unit, 0)
		return f, ok || isZoneUnit(unit), true, t < 0
	}
	f, ok = stampField(unit, t)
	return f, ok, false, false
}

func instantFields(env *expr.Env, unit string, d value.Datum) (f fieldValue, ok, infinite, negative bool) {
	t := d.(instant)
	if t.IsInfinite() {
		_, ok = stampField(unit, 0)
		return f, ok || isZoneUnit(unit), true, t < 0
	}
	local := t.Local(env.Settings.Zone)
	offset := int64(local-stamp(t)) / temporal.MicrosPerSecond
	switch unit {
	case "timezone":
		return fieldValue{n: offset}, true, false, false
	case "timezone_hour":
		return fieldValue{n: offset / 3600}, true, false, false
	case "timezone_minute":
		return fieldValue{n: offset % 3600 / 60}, true, false, false
	case "epoch":
		local = stamp(t)
	}
	f, ok = stampField(unit, local)
	return f, ok, false, false
}

func dateFields(_ *expr.Env, unit string, d value.Datum) (f fieldValue, ok, infinite, negative bool) {
	day := d.(date)
	_, ok = dateField(unit, 0)
	ok = ok || unit == "epoch"
	if day.IsInfinite() {
		return f, ok, true, day < 0
	}
	if unit == "epoch" {
		return fieldValue{n: (int64(day) + 10957) * secondsPerDay}, true, false, false
	}
	f, ok = dateField(unit, day)
	return f, ok, false, false
}

func addExtracts(to expr.Table) {
	clockFields := func(_ *expr.Env, unit string, d value.Datum) (f fieldValue, ok, infinite, negative bool) {
		if unit == "epoch" {
			return fieldValue{n: int64(d.(clock)), scale: 6}, true, false, false
		}
		f, ok = clockField(unit, int64(d.(clock)))
		return f, ok, false, false
	}
	intervalFields := func(_ *expr.Env, unit string, d value.Datum) (f fieldValue, ok, infinite, negative bool) {
		f, ok = intervalField(unit, d.(interval))
		return f, ok, false, false
	}
	for _, k := range []struct {
		name, part string
		t          *value.Type
		get        fields
	}{
		{"extract_timestamp", "timestamp_part", value.TimestampType, stampFields},
		{"extract_timestamptz", "timestamptz_part", value.TimestampTZType, instantFields},
		{"extract_time", "time_part", value.TimeType, clockFields},
		{"extract_interval", "interval_part", value.IntervalType, intervalFields},
		{"extract_date", "", value.DateType, dateFields},
	} {
		to.Calls(map[string]expr.CallFunc{k.name: extractor(k.t, k.get, false)})
		if k.part != "" {
			to.Calls(map[string]expr.CallFunc{k.part: extractor(k.t, k.get, true)})
		}
	}
	ofStamp := extractor(value.TimestampType, stampFields, true)
	to.Calls(map[string]expr.CallFunc{"date_part(text,date)": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		s, err := midnight(a[1].(date))
		if err != nil {
			return nil, err
		}
		return ofStamp(env, []value.Datum{a[0], s})
	}})
}
