package settings

import (
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// checkEncoding returns PostgreSQL's name of a supported client encoding.
func checkEncoding(v string) (string, error) {
	number := charset.Number(v)
	if number < 0 {
		return "", invalid("client_encoding", v)
	}
	if v == "UNICODE" { // PostgreSQL keeps this spelling for old clients
		return v, nil
	}
	name := charset.Name(int64(number))
	if _, ok := charset.ByName(name); !ok {
		e := invalid("client_encoding", v).WithDetail("Conversion between %s and UTF8 is not supported.", name)
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
		return "", invalid("TimeZone", v)
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
			return "", invalid("DateStyle", v)
		}
	}
	return format + ", " + order, nil
}
