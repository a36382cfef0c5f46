package temporal

import (
	"math"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// clock parses hh:mm[:ss[.ffffff]].
func (m *moment) clock(text string) (fieldMask, dateError) {
	hour, minute, second, micros, err := decodeClock(text)
	if err != dateOK {
		return 0, err
	}
	m.hour, m.minute, m.second, m.micros = int(hour), minute, second, micros
	if !m.timeOnly && (hour > 24 || hour == 24 && (minute > 0 || second > 0 || micros > 0)) {
		return 0, dateOverflow
	}
	return maskTime, dateOK
}

func decodeClock(text string) (hour int64, minute, second int, micros int64, _ dateError) {
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return 0, 0, 0, 0, dateBad
	}
	last, fraction, dotted := strings.Cut(parts[len(parts)-1], ".")
	parts[len(parts)-1] = last
	if dotted {
		if strings.Contains(fraction, ".") {
			return 0, 0, 0, 0, dateBad
		}
		micros = fractionMicros(fraction)
	}
	if dotted && len(parts) == 2 {
		parts = append([]string{"0"}, parts...) // mm:ss.fff
	}
	values := [3]int64{}
	for _, part := range parts {
		if part != "" && !pgtext.AllDigits(part) {
			return 0, 0, 0, 0, dateBad
		}
	}
	for i, part := range parts {
		if part == "" {
			if i == 0 {
				return 0, 0, 0, 0, dateBad
			}
			part = "0"
		}
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || i > 0 && v > math.MaxInt32 {
			return 0, 0, 0, 0, dateOverflow
		}
		values[i] = v
	}
	if values[1] > 59 || values[2] > 60 || micros > MicrosPerSecond {
		return 0, 0, 0, 0, dateOverflow
	}
	return values[0], int(values[1]), int(values[2]), micros, dateOK
}

const maxZoneHour = 15

// decodeZone parses a sign and h, hh, hmm, hhmm, hh:mm or hh:mm:ss. seconds is the offset east of
// UTC.
func decodeZone(text string) (seconds int, _ dateError) {
	digits := strings.TrimLeft(text[1:], "0123456789")
	hours, rest := text[1:len(text)-len(digits)], digits
	parts := []string{hours}
	if rest == "" && len(text) > 3 {
		parts = []string{hours[:len(hours)-2], hours[len(hours)-2:]}
	}
	for len(parts) < 3 && strings.HasPrefix(rest, ":") {
		after := strings.TrimLeft(rest[1:], "0123456789")
		parts = append(parts, rest[1:len(rest)-len(after)])
		rest = after
	}
	for i, part := range parts {
		v, err := strconv.Atoi("0" + part)
		if err != nil || i == 0 && v > maxZoneHour || i > 0 && v > 59 {
			return 0, dateZoneOverflow
		}
		seconds += v * [...]int{3600, 60, 1}[i]
	}
	if rest != "" || hours == "" {
		return 0, dateBad
	}
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, dateOK
}
