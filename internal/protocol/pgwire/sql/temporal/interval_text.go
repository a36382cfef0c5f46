package temporal

import (
	"fmt"
	"strconv"
)

// intervalParts are the parts of an interval for display. Years are taken from the months, and
// hours from the time; days stay separate.
type intervalParts struct {
	years, months, days, hours, minutes int64
	micros                              int64 // of seconds
}

func (i Interval) parts() intervalParts {
	return intervalParts{
		years: int64(i.Months / 12), months: int64(i.Months % 12), days: int64(i.Days),
		hours: i.Micros / MicrosPerHour, minutes: i.Micros / MicrosPerMinute % 60, micros: i.Micros % MicrosPerMinute,
	}
}

// Append appends i in one of the four styles.
func (i Interval) Append(dst []byte, style IntervalStyle) []byte {
	p := i.parts()
	switch style {
	case "postgres_verbose":
		return p.verbose(dst)
	case "sql_standard":
		return p.standard(dst)
	case "iso_8601":
		return p.iso(dst)
	}
	return p.postgres(dst)
}

func absolute(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func (p intervalParts) clockNegative() bool { return p.hours < 0 || p.minutes < 0 || p.micros < 0 }

func (p intervalParts) hasClock() bool { return p.hours != 0 || p.minutes != 0 || p.micros != 0 }

// clock appends hh:mm:ss without a sign.
func (p intervalParts) clock(dst []byte, width int) []byte {
	dst = fmt.Appendf(dst, "%0*d:%02d:", width, absolute(p.hours), absolute(p.minutes))
	return appendSeconds(dst, int64(absolute(p.micros)), true)
}

// postgres appends "1 year 2 mons -3 days +04:05:06". A part after a negative part has an explicit
// sign.
func (p intervalParts) postgres(dst []byte) []byte {
	first, before := true, false
	for _, part := range []struct {
		n    int64
		unit string
	}{{p.years, "year"}, {p.months, "mon"}, {p.days, "day"}} {
		if part.n == 0 {
			continue
		}
		if !first {
			dst = append(dst, ' ')
		}
		if before && part.n > 0 {
			dst = append(dst, '+')
		}
		dst = append(append(strconv.AppendInt(dst, part.n, 10), ' '), part.unit...)
		if part.n != 1 {
			dst = append(dst, 's')
		}
		first, before = false, part.n < 0
	}
	if !first && !p.hasClock() {
		return dst
	}
	if !first {
		dst = append(dst, ' ')
	}
	if p.clockNegative() {
		dst = append(dst, '-')
	} else if before {
		dst = append(dst, '+')
	}
	return p.clock(dst, 2)
}

// verbose appends "@ 1 year 2 mons -3 days 4 hours ago". The first part has no sign, and "ago"
// negates all parts.
func (p intervalParts) verbose(dst []byte) []byte {
	dst = append(dst, '@')
	first, ago := true, false
	for _, part := range []struct {
		n    int64
		unit string
	}{{p.years, "year"}, {p.months, "mon"}, {p.days, "day"}, {p.hours, "hour"}, {p.minutes, "min"}} {
		if part.n == 0 {
			continue
		}
		n := part.n
		if first {
			ago = n < 0
		}
		if ago {
			n = -n
		}
		dst = append(append(strconv.AppendInt(append(dst, ' '), n, 10), ' '), part.unit...)
		if n != 1 {
			dst = append(dst, 's')
		}
		first = false
	}
	if p.micros != 0 {
		dst = append(dst, ' ')
		if first {
			ago = p.micros < 0
		} else if p.micros < 0 != ago {
			dst = append(dst, '-')
		}
		dst = append(appendSeconds(dst, int64(absolute(p.micros)), false), " sec"...)
		if absolute(p.micros) != uint64(MicrosPerSecond) {
			dst = append(dst, 's')
		}
		first = false
	}
	if first {
		dst = append(dst, " 0"...)
	}
	if ago {
		dst = append(dst, " ago"...)
	}
	return dst
}

func (p intervalParts) iso(dst []byte) []byte {
	if p == (intervalParts{}) {
		return append(dst, "PT0S"...)
	}
	dst = append(dst, 'P')
	part := func(n int64, unit byte) {
		if n != 0 {
			dst = append(strconv.AppendInt(dst, n, 10), unit)
		}
	}
	part(p.years, 'Y')
	part(p.months, 'M')
	part(p.days, 'D')
	if p.hasClock() {
		dst = append(dst, 'T')
	}
	part(p.hours, 'H')
	part(p.minutes, 'M')
	if p.micros != 0 {
		if p.micros < 0 {
			dst = append(dst, '-')
		}
		dst = append(appendSeconds(dst, int64(absolute(p.micros)), false), 'S')
	}
	return dst
}

func (p intervalParts) signs() (negative, positive bool) {
	for _, n := range []int64{p.years, p.months, p.days, p.hours, p.minutes, p.micros} {
		negative, positive = negative || n < 0, positive || n > 0
	}
	return negative, positive
}

// standard appends "1-2" or "3 4:05:06". If the SQL standard has no format for the interval, it
// appends all three parts with signs.
func (p intervalParts) standard(dst []byte) []byte {
	negative, positive := p.signs()
	yearMonth, dayTime := p.years != 0 || p.months != 0, p.days != 0 || p.hasClock()
	switch {
	case !negative && !positive:
		return append(dst, '0')
	case negative && positive || yearMonth && dayTime:
		dst = append(dst, sign(p.years < 0 || p.months < 0))
		dst = fmt.Appendf(dst, "%d-%d ", absolute(p.years), absolute(p.months))
		dst = append(dst, sign(p.days < 0))
		dst = fmt.Appendf(dst, "%d ", absolute(p.days))
		return p.clock(append(dst, sign(p.clockNegative())), 1)
	}
	if negative {
		dst = append(dst, '-')
	}
	if yearMonth {
		return fmt.Appendf(dst, "%d-%d", absolute(p.years), absolute(p.months))
	}
	if p.days != 0 {
		dst = fmt.Appendf(dst, "%d ", absolute(p.days))
	}
	return p.clock(dst, 1)
}

func sign(negative bool) byte {
	if negative {
		return '-'
	}
	return '+'
}
