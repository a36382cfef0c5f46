package temporal

import (
	"strconv"
	"time"
)

// appendPadded appends n with at least width digits.
func appendPadded(dst []byte, n, width int) []byte {
	if width == 2 && uint(n) < 100 { // the most frequent case in dates and times
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	}
	limit := 1
	for range width - 1 {
		limit *= 10
	}
	for ; limit > n && limit > 1; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// Append appends d in a style.
func (d Date) Append(dst []byte, style DateStyle) []byte {
	switch d {
	case DateInfinity:
		return append(dst, "infinity"...)
	case DateNegInfinity:
		return append(dst, "-infinity"...)
	}
	year, month, day := d.Civil()
	bc := year <= 0
	if bc {
		year = 1 - year
	}
	switch first, second := style.dayOrder(month, day); style.Format {
	case "SQL":
		dst = appendParts(dst, '/', first, second)
		dst = appendPadded(append(dst, '/'), year, 4)
	case "German":
		dst = appendParts(dst, '.', day, month)
		dst = appendPadded(append(dst, '.'), year, 4)
	case "Postgres":
		dst = appendParts(dst, '-', first, second)
		dst = appendPadded(append(dst, '-'), year, 4)
	default:
		dst = appendPadded(dst, year, 4)
		dst = appendParts(append(dst, '-'), '-', month, day)
	}
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// dayOrder returns month and day in the order of the style.
func (s DateStyle) dayOrder(month, day int) (first, second int) {
	if s.Order == "DMY" {
		return day, month
	}
	return month, day
}

func appendParts(dst []byte, between byte, a, b int) []byte {
	return appendPadded(append(appendPadded(dst, a, 2), between), b, 2)
}

func (d Date) shownYear() (year int, bc bool) {
	year, _, _ = d.Civil()
	if year <= 0 {
		return 1 - year, true
	}
	return year, false
}

// Append appends t as hh:mm:ss[.ffffff].
func (t Time) Append(dst []byte) []byte {
	micros := int64(t)
	dst = appendParts(dst, ':', int(micros/MicrosPerHour), int(micros/MicrosPerMinute%60))
	return appendSeconds(append(dst, ':'), micros%MicrosPerMinute, true)
}

// appendSeconds appends the seconds of micros, which must not be negative, with the fraction if it
// is not zero.
func appendSeconds(dst []byte, micros int64, fill bool) []byte {
	width := 1
	if fill {
		width = 2
	}
	dst = appendPadded(dst, int(micros/MicrosPerSecond), width)
	fraction := int(micros % MicrosPerSecond)
	if fraction == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), fraction, 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// firstOfOurEra is 0001-01-01. Earlier dates are BC.
const firstOfOurEra Date = -730119

// Append appends t in a style.
func (t Timestamp) Append(dst []byte, style DateStyle) []byte {
	return appendTimestamp(dst, t, "", 0, false, style)
}

// Append appends t in a style, as the local time in zone.
func (t TimestampTZ) Append(dst []byte, style DateStyle, zone *time.Location) []byte {
	if t.IsInfinite() {
		return appendTimestamp(dst, Timestamp(t), "", 0, false, style)
	}
	name, offset := t.offset(zone)
	return appendTimestamp(dst, t.Local(zone), name, offset, true, style)
}

// appendTimestamp appends a local time and, if zoned is set, its zone.
func appendTimestamp(dst []byte, t Timestamp, zone string, offset int, zoned bool, style DateStyle) []byte {
	switch t {
	case TimestampInfinity:
		return append(dst, "infinity"...)
	case TimestampNegInfinity:
		return append(dst, "-infinity"...)
	}
	date, clock := t.Split()
	if style.Format == "Postgres" {
		return appendPostgresStyle(dst, date, clock, zone, zoned, style)
	}
	bc := date < firstOfOurEra
	dst = date.Append(dst, style)
	if bc {
		dst = dst[:len(dst)-len(" BC")] // appended at the end instead
	}
	dst = clock.Append(append(dst, ' '))
	if zoned {
		if format := style.Format; format == "SQL" || format == "German" {
			dst = append(append(dst, ' '), zone...)
		} else {
			dst = appendOffset(dst, offset)
		}
	}
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

func appendPostgresStyle(dst []byte, date Date, clock Time, zone string, zoned bool, style DateStyle) []byte {
	year, bc := date.shownYear()
	_, month, day := date.Civil()
	dst = append(append(dst, weekdayNames[date.Weekday()][:3]...), ' ')
	if style.Order == "DMY" {
		dst = append(appendPadded(dst, day, 2), ' ')
		dst = append(dst, monthNames[month-1][:3]...)
	} else {
		dst = append(append(dst, monthNames[month-1][:3]...), ' ')
		dst = appendPadded(dst, day, 2)
	}
	dst = clock.Append(append(dst, ' '))
	dst = appendPadded(append(dst, ' '), year, 4)
	if zoned {
		dst = append(append(dst, ' '), zone...)
	}
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendOffset appends an offset in seconds east of UTC: +03, +05:30, -02:30:17.
func appendOffset(dst []byte, seconds int) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = appendPadded(append(dst, sign), seconds/3600, 2)
	if seconds%3600 != 0 {
		dst = appendPadded(append(dst, ':'), seconds/60%60, 2)
	}
	if seconds%60 != 0 {
		dst = appendPadded(append(dst, ':'), seconds%60, 2)
	}
	return dst
}
