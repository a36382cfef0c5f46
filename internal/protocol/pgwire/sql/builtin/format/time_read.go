package format

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/datetime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// timeReader parses a time by a format: a port of DCH_from_char for the supported patterns.
type timeReader struct {
	whole string
	rest  string
	extra int // blanks skipped beyond those in the format
	got   map[string]int
}

func errTimeValue(text, key, detail string, args ...any) error {
	return pgerror.New(pgerror.InvalidDatetimeFormat, "invalid value \"%s\" for \"%s\"", text, key).WithDetail(detail, args...)
}

func isSeparator(s string) bool {
	return s != "" && s[0] > ' ' && s[0] < 127 && !pgtext.IsAlnumASCII(s[0])
}

func isBlankText(s string) bool { return s != "" && (s[0] == ' ' || s[0] >= '\t' && s[0] <= '\r') }

func (r *timeReader) read(format string) error {
	nodes := parseTimeFormat(format)
	for i, n := range nodes {
		if r.rest == "" {
			break
		}
		if i == 0 || n.key != "" {
			for isBlankText(r.rest) {
				r.rest = r.rest[1:]
				r.extra++
			}
		}
		if n.key == "" {
			r.text(n.text)
			continue
		}
		var next *timeNode
		if i+1 < len(nodes) {
			next = &nodes[i+1]
		}
		if err := r.field(n, next); err != nil {
			return err
		}
	}
	return nil
}

// text skips the input for a literal text of the format.
func (r *timeReader) text(text string) {
	if len(text) == 1 && (isBlankText(text) || isSeparator(text)) {
		r.extra--
		if isBlankText(r.rest) || isSeparator(r.rest) {
			r.rest = r.rest[1:]
			r.extra++
		}
		return
	}
	for range utf8.RuneCountInString(text) {
		if r.extra > 0 {
			r.extra--
			continue
		}
		_, size := utf8.DecodeRuneInString(r.rest)
		r.rest = r.rest[size:]
	}
}

// widths are the maximum digits of numeric fields.
var widths = map[string]int{
	"YYYY": 4, "YYY": 3, "YY": 2, "Y": 1, "MM": 2, "DD": 2, "DDD": 3, "HH24": 2, "HH12": 2, "HH": 2, "MI": 2, "SS": 2, "MS": 3, "US": 6, "SSSS": 5,
	"SSSSS": 5, "FF1": 1, "FF2": 2, "FF3": 3, "FF4": 4, "FF5": 5, "FF6": 6, "J": 7, "CC": 2, "Q": 1, "TZH": 2, "TZM": 2,
}

func (r *timeReader) field(n timeNode, next *timeNode) error {
	key := pgtext.UpperASCII(n.key)
	switch key {
	case "AM", "PM", "A.M.", "P.M.", "AD", "BC", "A.D.", "B.C.":
		dots := strings.Contains(key, ".")
		words := []string{"am", "pm"}
		if strings.Contains("AD BC A.D. B.C.", key) {
			words = []string{"ad", "bc"}
		}
		if dots {
			words = []string{words[0][:1] + "." + words[0][1:] + ".", words[1][:1] + "." + words[1][1:] + "."}
		}
		return r.word(n, strings.ReplaceAll(words[1], ".", ""), words)
	case "MONTH":
		return r.word(n, "MM", monthNames)
	case "MON":
		return r.word(n, "MM", shortened(monthNames))
	case "DAY":
		return r.word(n, "", dayNames)
	case "DY":
		return r.word(n, "", shortened(dayNames))
	case "FX":
		return nil
	}
	width, ok := widths[key]
	if !ok {
		return pgerror.New(pgerror.FeatureNotSupported, "formatting field \"%s\" is only supported in to_char", n.key)
	}
	before := len(r.rest)
	v, err := r.number(n, width, next)
	if err != nil {
		return err
	}
	return r.set(n.key, key, v, before-len(r.rest))
}

func shortened(all []string) []string {
	short := make([]string, len(all))
	for i, name := range all {
		short[i] = name[:3]
	}
	return short
}

// word reads one of several words in any case. It stores the index, from 1, in the field, unless
// field is empty.
func (r *timeReader) word(n timeNode, field string, words []string) error {
	for i, w := range words {
		if len(r.rest) >= len(w) && pgtext.LowerASCII(r.rest[:len(w)]) == pgtext.LowerASCII(w) {
			r.rest = r.rest[len(w):]
			if field == "" {
				return nil
			}
			return r.put(n.key, field, i+1)
		}
	}
	text, _, _ := strings.Cut(r.rest, " ")
	return errTimeValue(text, n.key, "The given value did not match any of the allowed values for this field.")
}

// number reads a number. It takes exactly width digits if a digit may follow, otherwise any number
// of digits.
func (r *timeReader) number(n timeNode, width int, next *timeNode) (int, error) {
	for isBlankText(r.rest) {
		r.rest = r.rest[1:]
	}
	text := r.rest[:pgtext.RuneOffset(r.rest, width)]
	if len(text) > width {
		text = r.rest[:width]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	from := r.rest
	open := n.fill || next == nil || next.key != "" && widths[pgtext.UpperASCII(next.key)] == 0 || next.key == "" && !(next.text >= "0" && next.text <= "9")
	if !open {
		if len(text) < width {
			return 0, pgerror.New(pgerror.InvalidDatetimeFormat, "source string too short for \"%s\" formatting field", n.key).
				WithDetail("Field requires %d characters, but only %d remain.", width, len(text))
		}
		from = text
	}
	used := 0
	for used < len(from) && (from[used] >= '0' && from[used] <= '9' || used == 0 && (from[0] == '-' || from[0] == '+')) {
		used++
	}
	v, err := strconv.ParseInt(from[:used], 10, 64)
	switch {
	case err != nil && (used == 0 || used == 1 && from[0] < '0'):
		return 0, errTimeValue(text, n.key, "Value must be an integer.")
	case !open && used < width:
		return 0, errTimeValue(text, n.key, "Field requires %d characters, but only %d could be parsed.", width, used)
	case err != nil || !value.FitsInt(value.Int4, v):
		return 0, pgerror.New(pgerror.DatetimeOverflow, "value for \"%s\" in source string is out of range", n.key)
	}
	r.rest = r.rest[used:]
	return int(v), nil
}

func (r *timeReader) set(shown, key string, v, digits int) error {
	switch key {
	case "YYYY":
		return r.put(shown, "YYYY", v)
	case "YYY", "YY", "Y":
		if digits < 4 {
			v = nearYear(v)
		}
		return r.put(shown, "YYYY", v)
	case "HH", "HH12":
		if v < 1 || v > 12 {
			return pgerror.New(pgerror.InvalidDatetimeFormat, "hour \"%d\" is invalid for the 12-hour clock", v).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		return r.put(shown, "HH", v)
	case "HH24":
		return r.put(shown, "HH", v)
	case "MS":
		for range 3 - digits {
			v *= 10
		}
		return r.put(shown, "MS", v)
	case "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		for range 6 - digits {
			v *= 10
		}
		return r.put(shown, "US", v)
	case "SSSSS":
		return r.put(shown, "SSSS", v)
	case "Q", "CC":
		return nil
	}
	return r.put(shown, key, v)
}

// nearYear completes a year of fewer than four digits to the year nearest to 2020.
func nearYear(v int) int {
	switch {
	case v < 70:
		return v + 2000
	case v < 100:
		return v + 1900
	case v < 520:
		return v + 2000
	case v < 1000:
		return v + 1000
	}
	return v
}

func (r *timeReader) put(shown, field string, v int) error {
	if old, ok := r.got[field]; ok && old != v {
		return pgerror.New(pgerror.InvalidDatetimeFormat, "conflicting values for \"%s\" field in formatting string", shown).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	r.got[field] = v
	return nil
}

// dayAndTime combines the fields that were read.
func (r *timeReader) dayAndTime() (temporal.Date, temporal.Time, error) {
	wrong := func() error {
		return pgerror.New(pgerror.DatetimeOverflow, "date/time field value out of range: \"%s\"", r.whole)
	}
	p := datetime.Parts{Year: r.got["YYYY"], Month: 1, Day: 1, Hour: r.got["HH"], Minute: r.got["MI"], Second: r.got["SS"]}
	if r.got["bc"] == 2 && p.Year > 0 {
		p.Year = 1 - p.Year
	} else if p.Year < 0 {
		p.Year++
	}
	if half := r.got["pm"]; half == 2 && p.Hour < 12 {
		p.Hour += 12
	} else if half == 1 && p.Hour == 12 {
		p.Hour = 0
	}
	if s, ok := r.got["SSSS"]; ok {
		p.Hour, p.Minute, p.Second = s/3600, s%3600/60, s%60
	}
	for field, to := range map[string]*int{"MM": &p.Month, "DD": &p.Day} {
		if v, ok := r.got[field]; ok && v != 0 {
			*to = v
		}
	}
	p.Micros = r.got["US"] + 1000*r.got["MS"]
	if p.Month < 1 || p.Month > 12 || p.Day < 1 || p.Day > temporal.DaysIn(p.Year, p.Month) || p.Hour < 0 || p.Hour > 23 || p.Minute < 0 || p.Minute > 59 ||
		p.Second < 0 || p.Second > 59 || p.Micros < 0 || p.Micros >= int(temporal.MicrosPerSecond) {
		return 0, 0, wrong()
	}
	d := temporal.DateOf(p.Year, p.Month, p.Day)
	if n, ok := r.got["DDD"]; ok && n != 0 {
		if n < 1 || n > 366 {
			return 0, 0, wrong()
		}
		d = temporal.DateOf(p.Year, 1, 1) + temporal.Date(n-1)
	}
	if j, ok := r.got["J"]; ok {
		d = temporal.MinDate + temporal.Date(j)
	}
	if d < temporal.MinDate || d >= temporal.EndDate {
		return 0, 0, pgerror.New(pgerror.DatetimeOverflow, "date out of range: \"%s\"", r.whole)
	}
	return d, p.Clock(), nil
}

func readTime(text, format string) (*timeReader, temporal.Date, temporal.Time, error) {
	r := &timeReader{whole: text, rest: text, got: map[string]int{}}
	if err := r.read(format); err != nil {
		return r, 0, 0, err
	}
	d, c, err := r.dayAndTime()
	return r, d, c, err
}

func addTimeReaders(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"to_date": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			_, d, _, err := readTime(a[0].(string), a[1].(string))
			return value.Result(d, err)
		},
		"to_timestamp": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			r, d, c, err := readTime(a[0].(string), a[1].(string))
			if err != nil {
				return nil, err
			}
			s, err := temporal.TimestampOf(d, c)
			if err != nil {
				return nil, err
			}
			hours, zoned := r.got["TZH"]
			if zoned {
				minutes := r.got["TZM"]
				if hours < 0 {
					minutes = -minutes
				}
				return temporal.TimestampTZ(int64(s) - int64(hours)*temporal.MicrosPerHour - int64(minutes)*temporal.MicrosPerMinute), nil
			}
			return s.In(env.Settings.Zone), nil
		},
	})
}
