package temporal

import (
	"cmp"
	"math"
)

// Interval is a span of time. Its three parts are independent, as in PostgreSQL.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// Span returns the interval in whole days and a remainder, counting months as 30 days and days as
// 24 hours. Two intervals are equal if their spans are.
func (i Interval) Span() (days, micros int64) {
	days = int64(i.Months)*DaysPerMonth + int64(i.Days) + i.Micros/MicrosPerDay
	if micros = i.Micros % MicrosPerDay; micros < 0 {
		days, micros = days-1, micros+MicrosPerDay
	}
	return days, micros
}

// Compare compares intervals by length, counting months as 30 days and days as 24 hours.
func (i Interval) Compare(b Interval) int {
	days1, micros1 := i.Span()
	days2, micros2 := b.Span()
	return cmp.Or(cmp.Compare(days1, days2), cmp.Compare(micros1, micros2))
}

// Seconds returns the length like PostgreSQL's extract(epoch from …), counting years as 365.25 days
// and months as 30 days.
func (i Interval) Seconds() float64 {
	const year = 365.25 * 86400
	return float64(i.Months/12)*year + float64(i.Months%12)*DaysPerMonth*86400 + float64(i.Days)*86400 + float64(i.Micros)/math.Pow10(6)
}

// Round rounds i to a number of fractional digits of the second.
func (i Interval) Round(digits int32) Interval {
	i.Micros = roundMicros(i.Micros, digits)
	return i
}
