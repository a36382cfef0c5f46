package temporal

import (
	"math"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Timestamp is the number of microseconds since 2000-01-01 00:00 in an unspecified zone. The ends
// of the range are -infinity and infinity.
type Timestamp int64

// TimestampTZ is the number of microseconds since 2000-01-01 00:00 UTC. The ends of the range are
// -infinity and infinity.
type TimestampTZ int64

// The limits of the ranges. Values beyond them are reserved for -infinity and infinity.
const (
	TimestampNegInfinity Timestamp = math.MinInt64
	TimestampInfinity    Timestamp = math.MaxInt64
	minTimestamp         Timestamp = -211813488000000000 // 4714-11-24 BC
	endTimestamp         Timestamp = 9223371331200000000 // 294277-01-01

	TimestampTZNegInfinity TimestampTZ = math.MinInt64
	TimestampTZInfinity    TimestampTZ = math.MaxInt64

	// unixMicros is 1970-01-01 in microseconds of Timestamp.
	unixMicros = -10957 * MicrosPerDay
)

// IsInfinite reports whether t is infinity or -infinity.
func (t Timestamp) IsInfinite() bool { return t == TimestampInfinity || t == TimestampNegInfinity }

// IsInfinite reports whether t is infinity or -infinity.
func (t TimestampTZ) IsInfinite() bool { return Timestamp(t).IsInfinite() }

// Check returns an error if t is out of range. The error quotes input, the text of t, if any.
func (t Timestamp) Check(input string) error {
	if t.IsInfinite() || t >= minTimestamp && t < endTimestamp {
		return nil
	}
	return errTimestamp(input)
}

// Check returns an error if t is out of range. The error quotes input, the text of t, if any.
func (t TimestampTZ) Check(input string) error { return Timestamp(t).Check(input) }

// Round rounds t to a number of fractional digits of the second.
func (t Timestamp) Round(digits int32) Timestamp {
	if t.IsInfinite() {
		return t
	}
	return Timestamp(roundMicros(int64(t), digits))
}

// Round rounds t to a number of fractional digits of the second.
func (t TimestampTZ) Round(digits int32) TimestampTZ { return TimestampTZ(Timestamp(t).Round(digits)) }

// Split splits a timestamp, which must be finite, into day and time of day.
func (t Timestamp) Split() (Date, Time) {
	days, micros := int64(t)/MicrosPerDay, int64(t)%MicrosPerDay
	if micros < 0 {
		days, micros = days-1, micros+MicrosPerDay
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
	stamp := Timestamp(days*MicrosPerDay + int64(t))
	if days > math.MaxInt64/MicrosPerDay || days < math.MinInt64/MicrosPerDay || stamp.Check("") != nil {
		return 0, pgerror.New(pgerror.DatetimeOverflow, "date out of range for timestamp")
	}
	return stamp, nil
}

// Date returns the day of t, or an infinity.
func (t Timestamp) Date() Date {
	switch t {
	case TimestampInfinity:
		return DateInfinity
	case TimestampNegInfinity:
		return DateNegInfinity
	}
	day, _ := t.Split()
	return day
}

// FromTime converts t, truncated to microseconds.
func FromTime(t time.Time) TimestampTZ {
	return TimestampTZ(t.Unix()*MicrosPerSecond + int64(t.Nanosecond())/1000 + unixMicros)
}

// Time converts t, which must be finite.
func (t TimestampTZ) Time() time.Time {
	seconds, rest := int64(t)/MicrosPerSecond, int64(t)%MicrosPerSecond
	return time.Unix(seconds-unixMicros/MicrosPerSecond, rest*1000)
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
	return Timestamp(int64(t) + int64(seconds)*MicrosPerSecond)
}

// In returns the instant at which the local time in zone is t. If the local time occurs twice, it
// is the later instant. If it is skipped, the offset before the change applies.
func (t Timestamp) In(zone *time.Location) TimestampTZ {
	if t.IsInfinite() {
		return TimestampTZ(t)
	}
	return TimestampTZ(int64(t) - int64(localOffset(t, zone))*MicrosPerSecond)
}

// localOffset returns the offset of zone, in seconds east of UTC, at the local time t.
func localOffset(t Timestamp, zone *time.Location) int {
	const day = Timestamp(MicrosPerDay)
	_, before := TimestampTZ(t - day).offset(zone)
	_, after := TimestampTZ(t + day).offset(zone)
	if before == after {
		return before
	}
	early := TimestampTZ(int64(t) - int64(before)*MicrosPerSecond)
	late := TimestampTZ(int64(t) - int64(after)*MicrosPerSecond)
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

// Add returns t + i. It adds the months, then the days, then the time.
func (t Timestamp) Add(i Interval) (Timestamp, error) {
	if t.IsInfinite() {
		return t, nil
	}
	day, micros := t.Split()
	day, err := day.AddMonths(int(i.Months))
	if err != nil {
		return 0, err
	}
	days := int64(day) + int64(i.Days)
	if days < int64(MinDate) || days > int64(EndDate) {
		return 0, errTimestamp("")
	}
	sum, err := TimestampOf(Date(days), micros)
	if err != nil {
		return 0, errTimestamp("")
	}
	result := sum + Timestamp(i.Micros)
	if (i.Micros > 0) != (result > sum) && i.Micros != 0 {
		return 0, errTimestamp("")
	}
	if result.IsInfinite() {
		return 0, errTimestamp("")
	}
	return result, result.Check("")
}

// Add returns t + i. It adds months and days in local time of zone, then the time as elapsed time.
func (t TimestampTZ) Add(i Interval, zone *time.Location) (TimestampTZ, error) {
	if t.IsInfinite() {
		return t, nil
	}
	if i.Months != 0 || i.Days != 0 {
		local, err := t.Local(zone).Add(Interval{Months: i.Months, Days: i.Days})
		if err != nil {
			return 0, err
		}
		t = local.In(zone)
	}
	sum, err := Timestamp(t).Add(Interval{Micros: i.Micros})
	return TimestampTZ(sum), err
}
