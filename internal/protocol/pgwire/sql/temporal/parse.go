package temporal

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/timezone"
)

// ParseDate parses the text of a date.
func ParseDate(s string, set *Settings) (Date, error) {
	m := moment{set: set}
	if err := m.parse(s, "date"); err != nil {
		return 0, err
	}
	if m.isSpecial {
		return m.special.Date(), nil
	}
	if !validJulian(m.year, m.month) {
		return 0, errDate(s)
	}
	day := DateOf(m.year, m.month, m.day)
	return day, day.Check(s)
}

// ParseTime parses the text of a time of day.
func ParseTime(s string, set *Settings) (Time, error) {
	m := moment{set: set, timeOnly: true}
	if err := m.parse(s, "time"); err != nil {
		return 0, err
	}
	return Time(m.clockMicros()), nil
}

// ParseTimestamp parses the text of a timestamp without time zone. It ignores a zone.
func ParseTimestamp(s string, set *Settings) (Timestamp, error) {
	m := moment{set: set}
	if err := m.parse(s, "timestamp"); err != nil {
		return 0, err
	}
	if m.isSpecial {
		return m.special, nil
	}
	stamp, err := m.timestamp(s)
	if err != nil {
		return 0, err
	}
	return stamp, stamp.Check(s)
}

// ParseTimestampTZ parses the text of a timestamp with time zone. Without a zone in the text, it is
// local time in that of the session.
func ParseTimestampTZ(s string, set *Settings) (TimestampTZ, error) {
	m := moment{set: set}
	if err := m.parse(s, "timestamp with time zone"); err != nil {
		return 0, err
	}
	if m.isSpecial {
		return TimestampTZ(m.special), nil
	}
	stamp, err := m.timestamp(s)
	if err != nil {
		return 0, err
	}
	instant := m.instant(stamp)
	return instant, instant.Check(s)
}

// parse decodes the text of a type with the given name.
func (m *moment) parse(s, name string) error {
	fields, ok := scanFields(s)
	if !ok || len(fields) == 0 {
		return dateBad.error(name, s, "")
	}
	if err := m.decode(fields); err != dateOK {
		return err.error(name, s, m.badZone)
	}
	return nil
}

// timestamp returns the decoded local time. The error quotes s, the text.
func (m *moment) timestamp(s string) (Timestamp, error) {
	if !validJulian(m.year, m.month) || m.year > lastTimestampYear {
		return 0, errTimestamp(s)
	}
	day := DateOf(m.year, m.month, m.day)
	return Timestamp(int64(day)*MicrosPerDay + m.clockMicros()), nil
}

// instant returns the instant of a local time in the decoded zone, or in that of the session.
func (m *moment) instant(stamp Timestamp) TimestampTZ {
	switch {
	case m.mask&maskZone == 0:
		return stamp.In(m.set.Zone)
	case m.zone != nil:
		return stamp.In(m.zone)
	}
	instant := TimestampTZ(int64(stamp) - int64(m.offset)*MicrosPerSecond)
	if m.abbreviation == "msk" || m.abbreviation == "msd" {
		return moscowTime(stamp, m.abbreviation, instant)
	}
	return instant
}

// moscowTime interprets a time with an abbreviation whose offset in Moscow has changed over the
// years. It returns otherwise if Moscow did not use the abbreviation at that time.
func moscowTime(t Timestamp, abbreviation string, otherwise TimestampTZ) TimestampTZ {
	moscow := timezone.Lookup("Europe/Moscow")
	instant := t.In(moscow)
	if name, _ := instant.offset(moscow); strings.EqualFold(name, abbreviation) {
		return instant
	}
	return otherwise
}

const (
	lastTimestampYear = 294277
	lastDateYear      = 5874898
)

// validJulian reports whether a date has a Julian day within range.
func validJulian(year, month int) bool {
	return (year > -4713 || year == -4713 && month >= 11) && (year < lastDateYear || year == lastDateYear && month < 6)
}
