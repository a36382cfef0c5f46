package temporal

import "math"

// Date is the number of days since 2000-01-01. The ends of the range are -infinity and infinity.
type Date int32

// The limits of the range. Values beyond them are reserved for -infinity and infinity.
const (
	DateNegInfinity Date = math.MinInt32
	DateInfinity    Date = math.MaxInt32
	MinDate         Date = -julianEpoch             // 4714-11-24 BC
	EndDate         Date = 2147483494 - julianEpoch // 5874898-01-01

	julianEpoch = 2451545 // 2000-01-01 as a Julian day
)

// IsInfinite reports whether d is infinity or -infinity.
func (d Date) IsInfinite() bool { return d == DateInfinity || d == DateNegInfinity }

// Check returns an error if d is out of range. The error quotes input, the text of d, if any.
func (d Date) Check(input string) error {
	if d.IsInfinite() || d >= MinDate && d < EndDate {
		return nil
	}
	return errDate(input)
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

// AddMonths adds months to a date. A day that the month does not have becomes its last day.
func (d Date) AddMonths(months int) (Date, error) {
	if d.IsInfinite() || months == 0 {
		return d, nil
	}
	year, month, day := d.Civil()
	total := int64(year)*12 + int64(month-1) + int64(months)
	y, m := total/12, total%12
	if m < 0 {
		y, m = y-1, m+12
	}
	if y > math.MaxInt32/400 || y < -4800 {
		return 0, errTimestamp("")
	}
	return DateOf(int(y), int(m)+1, min(day, DaysIn(int(y), int(m)+1))), nil
}

// DaysIn returns the number of days in a month.
func DaysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
