package value

import "cmp"

const daysPerMonth = 30

// span returns the interval in whole days and a remainder, counting months as 30 days and days as
// 24 hours. Two intervals are equal if their spans are.
func (i Interval) span() (days, micros int64) {
	days = int64(i.Months)*daysPerMonth + int64(i.Days) + i.Micros/microsPerDay
	if micros = i.Micros % microsPerDay; micros < 0 {
		days, micros = days-1, micros+microsPerDay
	}
	return days, micros
}

// Compare compares intervals by length, counting months as 30 days and days as 24 hours.
func (i Interval) Compare(b Interval) int {
	days1, micros1 := i.span()
	days2, micros2 := b.span()
	return cmp.Or(cmp.Compare(days1, days2), cmp.Compare(micros1, micros2))
}
