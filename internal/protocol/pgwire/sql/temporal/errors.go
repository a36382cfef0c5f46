package temporal

import "fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"

// errDate and errTimestamp quote input, the text of the value, if any.
func errDate(input string) error {
	return pgerror.New(pgerror.DatetimeOverflow, "date out of range%s", quoted(input))
}

func errTimestamp(input string) error {
	return pgerror.New(pgerror.DatetimeOverflow, "timestamp out of range%s", quoted(input))
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return ": \"" + s + "\""
}

// dateError is a kind of parse error.
type dateError byte

const (
	dateOK dateError = iota
	dateBad
	dateOverflow
	dateOrderOverflow // month or day: the order of the fields may be wrong
	dateIntervalOverflow
	dateZoneOverflow
	dateZoneUnknown
)

// error returns PostgreSQL's error. name is the name of the type, and zone the unknown zone, if
// any.
func (e dateError) error(name, s, zone string) error {
	switch e {
	case dateOverflow:
		return pgerror.New(pgerror.DatetimeOverflow, "date/time field value out of range: \"%s\"", s)
	case dateOrderOverflow:
		return pgerror.New(pgerror.DatetimeOverflow, "date/time field value out of range: \"%s\"", s).
			WithHint("Perhaps you need a different \"datestyle\" setting.")
	case dateIntervalOverflow:
		return pgerror.New("22015", "interval field value out of range: \"%s\"", s)
	case dateZoneOverflow:
		return pgerror.New("22009", "time zone displacement out of range: \"%s\"", s)
	case dateZoneUnknown:
		return pgerror.New(pgerror.InvalidParameterValue, "time zone \"%s\" not recognized", zone)
	}
	return pgerror.New(pgerror.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", name, s)
}
