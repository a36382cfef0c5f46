package datetime

import (
	"fmt"
	"math"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/number"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

type (
	date    = temporal.Date
	clock   = temporal.Time
	stamp   = temporal.Timestamp
	instant = temporal.TimestampTZ
)

func errStamp() error { return pgerror.New(pgerror.DatetimeOverflow, "timestamp out of range") }
func errDate() error  { return pgerror.New(pgerror.DatetimeOverflow, "date out of range") }

// between returns the time from b to a in days of 24 hours and the rest.
func between(a, b stamp) (value.Datum, error) {
	if a.IsInfinite() || b.IsInfinite() {
		return nil, pgerror.New(pgerror.DatetimeOverflow, "cannot subtract infinite timestamps")
	}
	micros, ok := value.SubInt(int64(a), int64(b))
	if !ok {
		return nil, errInterval()
	}
	return value.Result(justifyHours(interval{Micros: micros}))
}

// midnight returns the start of a day.
func midnight(d date) (stamp, error) {
	s, err := temporal.TimestampOf(d, 0)
	if err != nil {
		return 0, pgerror.New(pgerror.DatetimeOverflow, "date out of range for timestamp")
	}
	return s, nil
}

func datePlusInterval(d date, i interval) (value.Datum, error) {
	s, err := midnight(d)
	if err != nil {
		return nil, err
	}
	return value.Result(s.Add(i))
}

// datePlus adds days to a date.
func datePlus(d date, days int64) (value.Datum, error) {
	if d.IsInfinite() {
		return d, nil
	}
	sum := int64(d) + days
	if !value.FitsInt(value.Int4, sum) || sum < int64(temporal.MinDate) || sum >= int64(temporal.EndDate) {
		return nil, errDate()
	}
	return date(sum), nil
}

func dateMinus(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	l, r := a[0].(date), a[1].(date)
	if l.IsInfinite() || r.IsInfinite() {
		return nil, pgerror.New(pgerror.DatetimeOverflow, "cannot subtract infinite dates")
	}
	return int64(l) - int64(r), nil
}

// onClock wraps a number of microseconds into the range of a day.
func onClock(micros int64) clock {
	micros %= temporal.MicrosPerDay
	if micros < 0 {
		micros += temporal.MicrosPerDay
	}
	return clock(micros)
}

func minus(i interval) (interval, error) {
	if i.Months == math.MinInt32 || i.Days == math.MinInt32 || i.Micros == math.MinInt64 {
		return i, errStamp()
	}
	return interval{Months: -i.Months, Days: -i.Days, Micros: -i.Micros}, nil
}

func zoneAdd(env *expr.Env, t instant, i interval) (value.Datum, error) {
	return value.Result(t.Add(i, env.Settings.Zone))
}

// Parts are the fields of a timestamp.
type Parts struct {
	Year, Month, Day     int
	Hour, Minute, Second int
	Micros               int // of the second
}

// Split returns the fields of a timestamp, which must be finite.
func Split(t stamp) Parts {
	d, c := t.Split()
	var p Parts
	p.Year, p.Month, p.Day = d.Civil()
	micros := int64(c)
	p.Hour, micros = int(micros/temporal.MicrosPerHour), micros%temporal.MicrosPerHour
	p.Minute, micros = int(micros/temporal.MicrosPerMinute), micros%temporal.MicrosPerMinute
	p.Second, p.Micros = int(micros/temporal.MicrosPerSecond), int(micros%temporal.MicrosPerSecond)
	return p
}

func (p Parts) stamp() (stamp, error) {
	return temporal.TimestampOf(temporal.DateOf(p.Year, p.Month, p.Day), p.Clock())
}

// Clock returns the time of day.
func (p Parts) Clock() clock {
	return clock(int64(p.Hour)*temporal.MicrosPerHour + int64(p.Minute)*temporal.MicrosPerMinute + int64(p.Second)*temporal.MicrosPerSecond + int64(p.Micros))
}

// age returns the time from b to a in calendar years, months and days, and hours.
func age(a, b stamp) (value.Datum, error) {
	if a == temporal.TimestampNegInfinity || b == temporal.TimestampNegInfinity {
		return nil, errStamp() // -infinity is an error, but infinity is counted from
	}
	negative := a < b
	if negative {
		a, b = b, a
	}
	later, earlier := Split(a), Split(b)
	year, month, day := later.Year-earlier.Year, later.Month-earlier.Month, later.Day-earlier.Day
	_, timeA := a.Split()
	_, timeB := b.Split()
	micros := int64(timeA) - int64(timeB)
	if micros < 0 {
		micros, day = micros+temporal.MicrosPerDay, day-1
	}
	for day < 0 { // add the days of the earlier month
		day += temporal.DaysIn(earlier.Year, earlier.Month)
		month--
	}
	if month < 0 {
		month, year = month+12, year-1
	}
	i := interval{Months: int32(year*12 + month), Days: int32(day), Micros: micros}
	if negative {
		return value.Result(intervalNegate(i))
	}
	return i, nil
}

func makeDate(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	shown := a[0].(int64)
	if shown < 0 {
		shown++ // PostgreSQL's error shows the year as represented internally
	}
	return dayOf(a, shown)
}

// dayOf returns the date of a year, a month and a day. shown is the year for the error.
func dayOf(a []value.Datum, shown int64) (value.Datum, error) {
	year, month, day := a[0].(int64), a[1].(int64), a[2].(int64)
	given := year
	if year < 0 {
		year++
	}
	wrong := pgerror.New(pgerror.DatetimeOverflow, "date field value out of range: %d-%02d-%02d", shown, month, day)
	if given == 0 || month < 1 || month > 12 || day < 1 {
		return nil, wrong
	}
	if year > 5874898 || year < -4713 {
		return nil, pgerror.New(pgerror.DatetimeOverflow, "date out of range: %d-%02d-%02d", shown, month, day)
	}
	if day > int64(temporal.DaysIn(int(year), int(month))) {
		return nil, wrong
	}
	d := temporal.DateOf(int(year), int(month), int(day))
	if d < temporal.MinDate || d >= temporal.EndDate {
		return nil, pgerror.New(pgerror.DatetimeOverflow, "date out of range: %d-%02d-%02d", shown, month, day)
	}
	return d, nil
}

func makeTime(hour, minute int64, second float64) (clock, error) {
	wrong := func() error {
		return pgerror.New(pgerror.DatetimeOverflow, "time field value out of range: %d:%02d:%s", hour, minute, twoDigits(second))
	}
	if hour < 0 || minute < 0 || minute > 59 || math.IsNaN(second) || second < 0 || second > 60 || hour > 24 ||
		hour == 24 && (minute > 0 || second > 0) {
		return 0, wrong()
	}
	micros := hour*temporal.MicrosPerHour + minute*temporal.MicrosPerMinute + int64(math.RoundToEven(second*1e6))
	if micros > temporal.MicrosPerDay {
		return 0, wrong()
	}
	return clock(micros), nil
}

// twoDigits formats like C's %02g.
func twoDigits(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return number.FloatDigits(f, 0)
	}
	return fmt.Sprintf("%02s", fmt.Sprintf("%.6g", f))
}

func makeStamp(a []value.Datum) (stamp, error) {
	d, err := dayOf(a, a[0].(int64))
	if err != nil {
		return 0, err
	}
	c, err := makeTime(a[3].(int64), a[4].(int64), a[5].(float64))
	if err != nil {
		return 0, err
	}
	return temporal.TimestampOf(d.(date), c)
}

// stampOfSeconds implements to_timestamp(Unix seconds).
func stampOfSeconds(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	seconds := a[0].(float64)
	switch {
	case math.IsNaN(seconds):
		return nil, pgerror.New(pgerror.DatetimeOverflow, "timestamp cannot be NaN")
	case math.IsInf(seconds, 1):
		return temporal.TimestampTZInfinity, nil
	case math.IsInf(seconds, -1):
		return temporal.TimestampTZNegInfinity, nil
	}
	micros := math.RoundToEven((seconds - 946684800) * 1e6)
	if micros < -211813488000000000 || micros >= 9223371331200000000 {
		return nil, pgerror.New(pgerror.DatetimeOverflow, "timestamp out of range: \"%s\"", fmt.Sprintf("%g", seconds))
	}
	return instant(micros), nil
}

// bin implements date_bin: it returns the start of the stride that contains t, counting strides
// from origin.
func bin(stride interval, t, origin stamp) (stamp, error) {
	switch {
	case t.IsInfinite():
		return t, nil
	case origin.IsInfinite():
		return 0, pgerror.New(pgerror.DatetimeOverflow, "origin out of range")
	case stride.Months != 0:
		return 0, pgerror.New(pgerror.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	days, ok := value.MulInt(int64(stride.Days), temporal.MicrosPerDay)
	width, ok2 := value.AddInt(days, stride.Micros)
	if !ok || !ok2 {
		return 0, errInterval()
	}
	if width <= 0 {
		return 0, pgerror.New(pgerror.DatetimeOverflow, "stride must be greater than zero")
	}
	diff, ok := value.SubInt(int64(t), int64(origin))
	if !ok {
		return 0, errInterval()
	}
	offset := diff - diff%width
	if diff < 0 && diff%width != 0 {
		offset -= width
	}
	return origin + stamp(offset), nil
}
