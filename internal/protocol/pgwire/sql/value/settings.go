package value

import "time"

// Settings are the session settings that affect the parsing and formatting of values. Use Defaults,
// because the zero value is not usable.
type Settings struct {
	Zone          *time.Location
	ZoneName      string // as shown by SHOW timezone
	DateStyle     DateStyle
	IntervalStyle IntervalStyle
	ExtraFloat    int  // extra_float_digits
	ByteaEscape   bool // bytea_output = escape

	Now   TimestampTZ // for 'now', 'today' and so on in date texts
	Names Names       // nil: only the built-in types exist
}

// Names resolves values of regclass, regproc and similar types.
type Names interface {
	// Find returns the OID of the object with the name text for the type t (Regclass, Regproc,
	// ...). ok is false if there is none.
	Find(t *Type, text string) (oid int64, ok bool)
	// Show returns the text for an object. ok is false if there is none.
	Show(t *Type, oid int64) (text string, ok bool)
}

// DateStyle holds the two parts of the setting DateStyle.
type DateStyle struct {
	Format string // ISO, SQL, Postgres, German
	Order  string // MDY, DMY, YMD
}

// IntervalStyle is the setting IntervalStyle: postgres, postgres_verbose, sql_standard, iso_8601.
type IntervalStyle string

// Defaults returns the settings of a new session.
func Defaults() Settings {
	return Settings{
		Zone: time.UTC, ZoneName: "UTC", DateStyle: DateStyle{"ISO", "MDY"}, IntervalStyle: "postgres", ExtraFloat: 1,
	}
}
