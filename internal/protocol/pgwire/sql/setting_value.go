package sql

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// canonical returns a value in the format of SHOW.
func (d *setting) canonical(v string) (string, error) {
	switch d.kind {
	case boolSetting:
		b, ok := parseBool(v)
		if !ok {
			return "", pgerror.New(pgerror.InvalidParameterValue, "parameter %q requires a Boolean value", d.name)
		}
		if b {
			return "on", nil
		}
		return "off", nil
	case enumSetting:
		return d.enum(v)
	case intSetting:
		return d.integer(v)
	case realSetting:
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "", d.invalid(v)
		}
		return v, nil
	}
	if d.check != nil {
		return d.check(v)
	}
	return v, nil
}

func (d *setting) invalid(v string) *pgerror.Error { return invalidSetting(d.name, v) }

func invalidSetting(name, v string) *pgerror.Error {
	return pgerror.New(pgerror.InvalidParameterValue, `invalid value for parameter "%s": "%s"`, name, v)
}

func (d *setting) enum(v string) (string, error) {
	for _, known := range d.values {
		if strings.EqualFold(v, known) {
			return known, nil
		}
	}
	if b, ok := parseBool(v); ok && len(v) > 0 {
		if word := map[bool]string{true: "on", false: "off"}[b]; slices.Contains(d.values, word) {
			return word, nil
		}
	}
	return "", d.invalid(v).WithHint("Available values: %s.", strings.Join(d.values, ", "))
}

// parseBool parses a Boolean setting: on, off, and prefixes of true, false, yes and no.
func parseBool(v string) (b, ok bool) {
	v = strings.ToLower(v)
	switch {
	case v == "":
		return false, false
	case v == "on", v == "1", strings.HasPrefix("true", v), strings.HasPrefix("yes", v):
		return true, true
	case v == "of", v == "off", v == "0", strings.HasPrefix("false", v), strings.HasPrefix("no", v):
		return false, true
	}
	return false, false
}

// units maps the base unit of a setting to the accepted units, largest first, each with its size in
// base units.
var units = map[string][]struct {
	name string
	many float64
}{
	"ms":  {{"d", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}, {"ms", 1}, {"us", 0.001}},
	"s":   {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 0.001}, {"us", 0.000001}},
	"min": {{"d", 1440}, {"h", 60}, {"min", 1}},
	"kB":  {{"TB", 1 << 30}, {"GB", 1 << 20}, {"MB", 1 << 10}, {"kB", 1}, {"B", 1.0 / 1024}},
}

// integer parses an integer with an optional unit, and returns it in the largest unit in which it
// is an integer.
func (d *setting) integer(v string) (string, error) {
	n, err := d.parseInteger(v)
	if err != nil {
		return "", err
	}
	return d.withUnit(n), nil
}

func (d *setting) parseInteger(v string) (int64, error) {
	text := strings.TrimSpace(v)
	end := len(text) - len(strings.TrimLeft(text, "+-0123456789.eE"))
	for end > 0 && (text[end-1] == 'e' || text[end-1] == 'E') {
		end--
	}
	f, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0, d.invalid(v)
	}
	unit := strings.TrimSpace(text[end:])
	if unit != "" {
		i := slices.IndexFunc(units[d.unit], func(u struct {
			name string
			many float64
		}) bool {
			return u.name == unit
		})
		if i < 0 {
			return 0, d.badUnit(v)
		}
		f *= units[d.unit][i].many
	}
	f = math.RoundToEven(f)
	if f < float64(d.min) || f > float64(d.max) {
		suffix := ""
		if d.unit != "" {
			suffix = " " + d.unit
		}
		return 0, pgerror.New(pgerror.InvalidParameterValue, `%d%s is outside the valid range for parameter "%s" (%d .. %d)`,
			int64(f), suffix, d.name, d.min, d.max)
	}
	return int64(f), nil
}

func (d *setting) badUnit(v string) error {
	e := d.invalid(v)
	switch d.unit {
	case "":
		return e
	case "kB":
		return e.WithHint(`Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".`)
	}
	return e.WithHint(`Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".`)
}

func (d *setting) withUnit(n int64) string {
	if n <= 0 || d.unit == "" {
		return strconv.FormatInt(n, 10)
	}
	for _, u := range units[d.unit] {
		if many := int64(u.many); many > 0 && n%many == 0 {
			return strconv.FormatInt(n/many, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// duration returns the value of a setting in milliseconds as a duration.
func (d *setting) duration(shown string) time.Duration {
	n, err := d.parseInteger(shown)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// checkEncoding returns PostgreSQL's name of a supported client encoding.
func checkEncoding(v string) (string, error) {
	number := charset.Number(v)
	if number < 0 {
		return "", invalidSetting("client_encoding", v)
	}
	if v == "UNICODE" { // PostgreSQL keeps this spelling for old clients
		return v, nil
	}
	name := charset.Name(int64(number))
	if _, ok := charset.ByName(name); !ok {
		e := invalidSetting("client_encoding", v).WithDetail("Conversion between %s and UTF8 is not supported.", name)
		e.Code = pgerror.FeatureNotSupported
		return "", e
	}
	return name, nil
}

// checkApplicationName replaces characters other than printable ASCII, as PostgreSQL does.
func checkApplicationName(v string) (string, error) {
	b := []byte(v)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b), nil
}

func checkZone(v string) (string, error) {
	loc, name, ok := zone(v)
	if !ok {
		return "", invalidSetting("TimeZone", v)
	}
	if _, seconds := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).In(loc).Zone(); seconds%60 != 0 {
		return "", pgerror.New(pgerror.InvalidParameterValue, `time zone "%s" appears to use leap seconds`, v).
			WithDetail("PostgreSQL does not support leap seconds.")
	}
	return name, nil
}

// checkDateStyle parses the words of DateStyle, in any order, as PostgreSQL does. The default for
// missing parts is ISO and MDY.
func checkDateStyle(v string) (string, error) { return mergeDateStyle(v, "ISO, MDY") }

func mergeDateStyle(v, now string) (string, error) {
	format, order, _ := strings.Cut(now, ", ")
	ordered := false
	for _, word := range strings.Split(v, ",") {
		word = strings.ToUpper(strings.TrimSpace(word))
		switch {
		case word == "ISO":
			format = "ISO"
		case word == "SQL":
			format = "SQL"
		case strings.HasPrefix(word, "POSTGRES"):
			format = "Postgres"
		case word == "GERMAN":
			format = "German"
			if !ordered {
				order = "DMY"
			}
		case word == "YMD":
			order, ordered = "YMD", true
		case word == "DMY", strings.HasPrefix(word, "EURO"):
			order, ordered = "DMY", true
		case word == "MDY", word == "US", strings.HasPrefix(word, "NONEURO"):
			order, ordered = "MDY", true
		case word == "DEFAULT":
			format, order = "ISO", "MDY"
		default:
			return "", invalidSetting("DateStyle", v)
		}
	}
	return format + ", " + order, nil
}
