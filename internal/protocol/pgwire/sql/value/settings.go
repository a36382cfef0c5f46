package value

import "time"

// Settings are what a session may set that decides how values are read and written. The zero value
// is not usable; Defaults is.
type Settings struct {
	Zone          *time.Location
	ZoneName      string // as SHOW timezone gives it
	DateStyle     DateStyle
	IntervalStyle IntervalStyle
	ExtraFloat    int  // extra_float_digits
	ByteaEscape   bool // bytea_output = escape

	Now   TimestampTZ // what 'now', 'today' and the like mean in the text of a date
	Names Names       // nil: there is nothing but the built-in types
}

// Names are the objects that values of regclass, regproc and their like stand for.
type Names interface {
	// Find returns the object that t (Regclass, Regproc, ...) has for text; ok is false when there
	// is none.
	Find(t *Type, text string) (oid int64, ok bool)
	// Show returns what is shown for an object; ok is false when there is none.
	Show(t *Type, oid int64) (text string, ok bool)
}

// DateStyle is the two parts of the setting of this name.
type DateStyle struct {
	Format string // ISO, SQL, Postgres, German
	Order  string // MDY, DMY, YMD
}

// IntervalStyle is the setting of this name: postgres, postgres_verbose, sql_standard, iso_8601.
type IntervalStyle string

// Defaults are those of a new session.
func Defaults() Settings {
	return Settings{
		Zone: time.UTC, ZoneName: "UTC", DateStyle: DateStyle{"ISO", "MDY"}, IntervalStyle: "postgres", ExtraFloat: 1,
	}
}
