package value

import "time"

// Settings are what a session may set that decides how values are read and written. The zero value is not usable; Defaults is.
type Settings struct {
	Zone          *time.Location
	ZoneName      string // as SHOW timezone gives it
	DateStyle     DateStyle
	IntervalStyle IntervalStyle
	ExtraFloat    int  // extra_float_digits
	ByteaEscape   bool // bytea_output = escape
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
