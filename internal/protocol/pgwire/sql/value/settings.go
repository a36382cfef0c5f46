package value

import (
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

// Settings are the session settings that affect the parsing and formatting of values. Use Defaults,
// because the zero value is not usable.
type Settings struct {
	temporal.Settings
	ZoneName string // as shown by SHOW timezone

	ExtraFloat  int  // extra_float_digits
	ByteaEscape bool // bytea_output = escape

	Names Names // nil: only the built-in types exist
}

// Names resolves values of regclass, regproc and similar types.
type Names interface {
	// Find returns the OID of the object with the name text for the type t (Regclass, Regproc,
	// ...). ok is false if there is none. Errors: ambiguous names, malformed ones.
	Find(t *Type, text string) (oid int64, ok bool, err error)
	// Show returns the text for an object. ok is false if there is none.
	Show(t *Type, oid int64) (text string, ok bool)
}

// Defaults returns the settings of a new session.
func Defaults() Settings {
	times := temporal.Settings{Zone: time.UTC, DateStyle: temporal.DateStyle{Format: "ISO", Order: "MDY"}, IntervalStyle: "postgres"}
	return Settings{Settings: times, ZoneName: "UTC", ExtraFloat: 1}
}
