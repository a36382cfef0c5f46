package value

import "strings"

// parseTime parses a date, time or timestamp.
func parseTime(t *Type, s string, set *Settings) (Datum, error) {
	name := map[*Type]string{DateType: "date", TimeType: "time", TimestampType: "timestamp", TimestampTZType: "timestamp with time zone"}[t]
	m := moment{set: set, timeOnly: t == TimeType}
	fields, ok := scanFields(s)
	if !ok || len(fields) == 0 {
		return nil, dateBad.error(name, s, "")
	}
	if err := m.decode(fields); err != dateOK {
		return nil, err.error(name, s, m.badZone)
	}
	if t == TimeType {
		return Time(m.clockMicros()), nil
	}
	if m.isSpecial {
		return m.specialValue(t)
	}
	if !validJulian(m.year, m.month) {
		if t == DateType {
			return nil, minDate.outOfRange(s)
		}
		return nil, outOfRangeText(s)
	}
	day := DateOf(m.year, m.month, m.day)
	if t == DateType {
		return datum(day, day.check(s))
	}
	if m.year > lastTimestampYear {
		return nil, outOfRangeText(s)
	}
	stamp := Timestamp(int64(day)*microsPerDay + m.clockMicros())
	if t == TimestampType {
		return datum(stamp, stamp.check(s))
	}
	instant := TimestampTZ(int64(stamp) - int64(m.offset)*microsPerSecond)
	if m.mask&maskZone == 0 {
		instant = stamp.In(set.Zone)
	} else if m.zone != nil {
		instant = stamp.In(m.zone)
	} else if m.abbreviation == "msk" || m.abbreviation == "msd" {
		instant = moscowTime(stamp, m.abbreviation, instant)
	}
	return datum(instant, Timestamp(instant).check(s))
}

// moscowTime interprets a time with an abbreviation whose offset in Moscow has changed over the
// years. It returns otherwise if Moscow did not use the abbreviation at that time.
func moscowTime(t Timestamp, abbreviation string, otherwise TimestampTZ) TimestampTZ {
	moscow := LookupZone("Europe/Moscow")
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

func (m *moment) specialValue(t *Type) (Datum, error) {
	switch {
	case t == TimestampTZType:
		return TimestampTZ(m.special), nil
	case t == TimestampType:
		return m.special, nil
	}
	return m.special.date(), nil
}
