package localtime

import (
	"math"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Unix2000 is 2000-01-01 00:00 UTC in Unix seconds, the epoch of temporal.Timestamp.
const Unix2000 = 946684800

// The ends of the range of a timestamp represent infinity.
const (
	Infinity      = temporal.Timestamp(math.MaxInt64)
	MinusInfinity = temporal.Timestamp(math.MinInt64)
)

// At returns the local time in a zone at the moment t.
func At(t temporal.TimestampTZ, zone *time.Location) temporal.Timestamp {
	if zone == time.UTC {
		return temporal.Timestamp(t)
	}
	at := time.UnixMicro(int64(t) + Unix2000*1e6).In(zone)
	_, offset := at.Zone()
	return temporal.Timestamp(int64(t) + int64(offset)*1e6)
}

// OfUnix is At for Unix seconds.
func OfUnix(seconds int64, zone *time.Location) temporal.Timestamp {
	return At(temporal.TimestampTZ((seconds-Unix2000)*1e6), zone)
}

// Instant returns the moment, in Unix microseconds, at which the local time in a zone is t.
// Infinities map to the ends of the range.
func Instant(t temporal.Timestamp, zone *time.Location) int64 {
	switch {
	case t >= Infinity-Unix2000*1e6:
		return math.MaxInt64
	case t == MinusInfinity:
		return math.MinInt64
	}
	micros := int64(t) + Unix2000*1e6
	if zone == time.UTC {
		return micros
	}
	c := time.UnixMicro(micros).UTC()
	return time.Date(c.Year(), c.Month(), c.Day(), c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), zone).UnixMicro()
}

// CeilMillis rounds microseconds up to milliseconds.
func CeilMillis(micros int64) int64 {
	ms := micros / 1000
	if micros%1000 > 0 {
		ms++
	}
	return ms
}

// FloorMillis rounds microseconds down to milliseconds.
func FloorMillis(micros int64) int64 {
	ms := micros / 1000
	if micros%1000 < 0 {
		ms--
	}
	return ms
}

var plain = value.Defaults()

// Append appends t in ISO format. It ignores the session's DateStyle, because the text is
// stored in messages.
func Append(dst []byte, t temporal.Timestamp) []byte {
	if t == Infinity {
		return append(dst, "infinity"...)
	}
	if t == MinusInfinity {
		return append(dst, "-infinity"...)
	}
	c := time.UnixMicro(int64(t) + Unix2000*1e6).UTC()
	y, m, d := c.Date()
	if y < 1 || y > 9999 {
		return value.AppendText(dst, value.TimestampType, t, &plain)
	}
	dst = append(dst, byte('0'+y/1000), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10), '-')
	dst = append(two(dst, int(m)), '-')
	dst = append(two(dst, d), ' ')
	dst = append(two(dst, c.Hour()), ':')
	dst = append(two(dst, c.Minute()), ':')
	dst = two(dst, c.Second())
	micros := c.Nanosecond() / 1000
	if micros == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := 100000; micros > 0; unit /= 10 {
		dst = append(dst, byte('0'+micros/unit))
		micros %= unit
	}
	return dst
}

func two(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// Parse parses a timestamp from a message, with a fast path for the ISO format of
// Append.
func Parse(s string, set *temporal.Settings) (temporal.Timestamp, error) {
	if t, ok := ParseISO(s); ok {
		return t, nil
	}
	return temporal.ParseTimestamp(s, set)
}

// ParseISO parses the output of Append for years with four digits.
func ParseISO(s string) (temporal.Timestamp, bool) {
	if len(s) < 19 || len(s) > 26 || len(s) == 20 || s[4] != '-' || s[7] != '-' || s[10] != ' ' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	var part [6]int
	for i, at := range [6]int{0, 5, 8, 11, 14, 17} {
		n := 2
		if i == 0 {
			n = 4
		}
		for _, c := range []byte(s[at : at+n]) {
			if c < '0' || c > '9' {
				return 0, false
			}
			part[i] = part[i]*10 + int(c-'0')
		}
	}
	micros := 0
	if len(s) > 20 {
		if s[19] != '.' {
			return 0, false
		}
		unit := 100000
		for _, c := range []byte(s[20:]) {
			if c < '0' || c > '9' {
				return 0, false
			}
			micros += int(c-'0') * unit
			unit /= 10
		}
	}
	if part[0] < 1 || part[1] < 1 || part[1] > 12 || part[2] < 1 || part[3] > 23 || part[4] > 59 || part[5] > 59 {
		return 0, false
	}
	t := time.Date(part[0], time.Month(part[1]), part[2], part[3], part[4], part[5], micros*1000, time.UTC)
	if t.Day() != part[2] { // the date does not exist
		return 0, false
	}
	return temporal.Timestamp(t.UnixMicro() - Unix2000*1e6), true
}
