package value

import (
	"math"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

const (
	microsPerSecond int64 = 1_000_000
	microsPerMinute       = 60 * microsPerSecond
	microsPerHour         = 60 * microsPerMinute
	microsPerDay          = 24 * microsPerHour

	julianEpoch = 2451545 // 2000-01-01 as a Julian day
	unixEpoch   = 2440588 // 1970-01-01

	// unixMicros is 1970-01-01 in microseconds of Timestamp.
	unixMicros = (unixEpoch - julianEpoch) * microsPerDay
)

// The limits of the ranges. Values beyond them are reserved for -infinity and infinity.
const (
	DateNegInfinity Date = math.MinInt32
	DateInfinity    Date = math.MaxInt32
	minDate         Date = -julianEpoch             // 4714-11-24 BC
	endDate         Date = 2147483494 - julianEpoch // 5874898-01-01

	TimestampNegInfinity Timestamp = math.MinInt64
	TimestampInfinity    Timestamp = math.MaxInt64
	minTimestamp         Timestamp = -211813488000000000 // 4714-11-24 BC
	endTimestamp         Timestamp = 9223371331200000000 // 294277-01-01

	TimestampTZNegInfinity TimestampTZ = math.MinInt64
	TimestampTZInfinity    TimestampTZ = math.MaxInt64
)

// IsInfinite reports whether d is infinity or -infinity.
func (d Date) IsInfinite() bool { return d == DateInfinity || d == DateNegInfinity }

// IsInfinite reports whether t is infinity or -infinity.
func (t Timestamp) IsInfinite() bool { return t == TimestampInfinity || t == TimestampNegInfinity }

// IsInfinite reports whether t is infinity or -infinity.
func (t TimestampTZ) IsInfinite() bool { return Timestamp(t).IsInfinite() }

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return ": \"" + s + "\""
}

// check returns an error if d is out of range. text is the input for the error, if any.
func (d Date) check(text string) error {
	if d.IsInfinite() || d >= minDate && d < endDate {
		return nil
	}
	return d.outOfRange(text)
}

func (Date) outOfRange(text string) error {
	return pgerror.New(pgerror.DatetimeOverflow, "date out of range%s", quoted(text))
}

func outOfRangeText(text string) error {
	return pgerror.New(pgerror.DatetimeOverflow, "timestamp out of range%s", quoted(text))
}

func (t Timestamp) check(text string) error {
	if t.IsInfinite() || t >= minTimestamp && t < endTimestamp {
		return nil
	}
	return outOfRangeText(text)
}

// DateOf returns the date of a year (0 is 1 BC), month and day, each of which must be in range. It
// is exact for the whole range of Date.
func DateOf(year, month, day int) Date { return Date(julianDay(year, month, day) - julianEpoch) }

// Civil returns the year (0 is 1 BC), month and day of d, which must be finite.
func (d Date) Civil() (year, month, day int) { return fromJulian(int(d) + julianEpoch) }

// julianDay and fromJulian use the algorithms of PostgreSQL's date2j and j2date.
func julianDay(year, month, day int) int {
	if month > 2 {
		month++
		year += 4800
	} else {
		month += 13
		year += 4799
	}
	century := year / 100
	julian := year*365 - 32167
	julian += year/4 - century + century/4
	return julian + 7834*month/256 + day
}

func fromJulian(jd int) (year, month, day int) {
	julian := uint32(jd) + 32044
	quad := julian / 146097
	extra := (julian-quad*146097)*4 + 3
	julian += 60 + quad*3 + extra/146097
	quad = julian / 1461
	julian -= quad * 1461
	y := julian * 4 / 1461
	if y != 0 {
		julian = (julian+305)%365 + 123
	} else {
		julian = (julian+306)%366 + 123
	}
	y += quad * 4
	quad = julian * 2141 / 65536
	return int(y) - 4800, int((quad+10)%12) + 1, int(julian - 7834*quad/256)
}

// Weekday returns the day of the week, 0 for Sunday.
func (d Date) Weekday() int {
	day := (int(d) + julianEpoch + 1) % 7
	if day < 0 {
		day += 7
	}
	return day
}

// Split splits a timestamp, which must be finite, into day and time of day.
func (t Timestamp) Split() (Date, Time) {
	days, micros := int64(t)/microsPerDay, int64(t)%microsPerDay
	if micros < 0 {
		days, micros = days-1, micros+microsPerDay
	}
	return Date(days), Time(micros)
}

// TimestampOf returns the timestamp of a date and a time of day, or an error if it is out of range.
func TimestampOf(d Date, t Time) (Timestamp, error) {
	switch d {
	case DateInfinity:
		return TimestampInfinity, nil
	case DateNegInfinity:
		return TimestampNegInfinity, nil
	}
	days := int64(d)
	stamp := Timestamp(days*microsPerDay + int64(t))
	if days > math.MaxInt64/microsPerDay || days < math.MinInt64/microsPerDay || stamp.check("") != nil {
		return 0, pgerror.New(pgerror.DatetimeOverflow, "date out of range for timestamp")
	}
	return stamp, nil
}

func (t Timestamp) outOfRange() error { return outOfRangeText("") }

// FromTime converts t, truncated to microseconds.
func FromTime(t time.Time) TimestampTZ {
	return TimestampTZ(t.Unix()*microsPerSecond + int64(t.Nanosecond())/1000 + unixMicros)
}

// Time converts t, which must be finite.
func (t TimestampTZ) Time() time.Time {
	seconds, rest := int64(t)/microsPerSecond, int64(t)%microsPerSecond
	return time.Unix(seconds-unixMicros/microsPerSecond, rest*1000)
}

// offset returns the abbreviation and the offset, in seconds east of UTC, of zone at t.
func (t TimestampTZ) offset(zone *time.Location) (name string, seconds int) {
	return t.Time().In(zone).Zone()
}

// Local returns the local time in zone at t.
func (t TimestampTZ) Local(zone *time.Location) Timestamp {
	if t.IsInfinite() {
		return Timestamp(t)
	}
	_, seconds := t.offset(zone)
	return Timestamp(int64(t) + int64(seconds)*microsPerSecond)
}

// In returns the instant at which the local time in zone is t. If the local time occurs twice, it
// is the later instant. If it is skipped, the offset before the change applies.
func (t Timestamp) In(zone *time.Location) TimestampTZ {
	if t.IsInfinite() {
		return TimestampTZ(t)
	}
	return TimestampTZ(int64(t) - int64(localOffset(t, zone))*microsPerSecond)
}

// localOffset returns the offset of zone, in seconds east of UTC, at the local time t.
func localOffset(t Timestamp, zone *time.Location) int {
	const day = Timestamp(microsPerDay)
	_, before := TimestampTZ(t - day).offset(zone)
	_, after := TimestampTZ(t + day).offset(zone)
	if before == after {
		return before
	}
	early := TimestampTZ(int64(t) - int64(before)*microsPerSecond)
	late := TimestampTZ(int64(t) - int64(after)*microsPerSecond)
	_, atEarly := early.offset(zone)
	_, atLate := late.offset(zone)
	switch {
	case atEarly == before && atLate != after:
		return before
	case atLate == after && atEarly != before:
		return after
	case before > after:
		return after // ambiguous: the clocks were set back, and the later instant is used
	}
	return before // skipped: the clocks were set forward
}
