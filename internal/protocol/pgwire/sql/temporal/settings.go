package temporal

import "time"

// Settings are the session settings that affect the parsing of dates and times.
type Settings struct {
	Zone          *time.Location
	DateStyle     DateStyle
	IntervalStyle IntervalStyle
	Now           TimestampTZ // for 'now', 'today' and so on in texts
}

// DateStyle holds the two parts of the setting DateStyle.
type DateStyle struct {
	Format string // ISO, SQL, Postgres, German
	Order  string // MDY, DMY, YMD
}

// IntervalStyle is the setting IntervalStyle: postgres, postgres_verbose, sql_standard, iso_8601.
type IntervalStyle string
