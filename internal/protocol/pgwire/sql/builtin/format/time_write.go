package format

import (
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/datetime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// shownTime is the value that to_char formats: the parts of a timestamp or of an interval.
type shownTime struct {
	datetime.Parts
	interval bool
	date     temporal.Date // for a timestamp
	yearDay  int
	zone     string // abbreviation; empty: none
	offset   int    // seconds east of UTC
}

func errIntervalFormat() error {
	return pgerror.New(pgerror.InvalidDatetimeFormat, "invalid format specification for an interval value").
		WithHint("Intervals are not tied to specific calendar dates.")
}

func shownStamp(t temporal.Timestamp) *shownTime {
	s := &shownTime{Parts: datetime.Split(t)}
	s.date, _ = t.Split()
	s.yearDay = int(s.date-temporal.DateOf(s.Year, 1, 1)) + 1
	return s
}

func shownInterval(i temporal.Interval) *shownTime {
	s := &shownTime{interval: true}
	s.Year, s.Month, s.Day = int(i.Months/12), int(i.Months%12), int(i.Days)
	s.Hour, s.Minute = int(i.Micros/temporal.MicrosPerHour), int(i.Micros%temporal.MicrosPerHour/temporal.MicrosPerMinute)
	s.Second, s.Micros = int(i.Micros%temporal.MicrosPerMinute/temporal.MicrosPerSecond), int(i.Micros%temporal.MicrosPerSecond)
	s.yearDay = (s.Year*12+s.Month)*temporal.DaysPerMonth + s.Day
	s.date = temporal.DateOf(s.Year, s.Month, s.Day) // meaningless, but PostgreSQL shows it
	return s
}

// format formats a time.
func (s *shownTime) format(format string) (value.Datum, error) {
	if format == "" {
		return nil, nil
	}
	var b strings.Builder
	for _, n := range parseTimeFormat(format) {
		if n.key == "" {
			b.WriteString(n.text)
			continue
		}
		if s.interval && strings.Contains(" AD A.D. BC B.C. TZ TZH TZM OF MONTH MON DAY DY D ID W ", " "+pgtext.UpperASCII(n.key)+" ") {
			return nil, errIntervalFormat()
		}
		b.WriteString(s.shown(n))
	}
	return b.String(), nil
}

// number formats a number with its ordinal suffix. The width excludes the sign.
func (n timeNode) number(width, v int) string {
	if v < 0 {
		width++
	}
	if n.fill {
		width = 0
	}
	text := fmt.Sprintf("%0*d", width, v)
	if n.ordinal != "" {
		text += ordinal(text, n.ordinal == "TH")
	}
	return text
}

// fixed formats a number. The width includes the sign.
func (n timeNode) fixed(width, v int) string {
	if v < 0 {
		width--
	}
	return n.number(width, v)
}

// name formats a name, padded to a width.
func (n timeNode) name(width int, name string) string {
	if n.fill {
		width = 0
	}
	return fmt.Sprintf("%-*s", width, name)
}

// shownYear returns the displayed year: there is no year 0.
func (s *shownTime) shownYear(year int) int {
	if s.interval || year > 0 {
		return year
	}
	return 1 - year
}

func (s *shownTime) shown(n timeNode) string {
	switch key := pgtext.UpperASCII(n.key); key {
	case "AM", "PM", "A.M.", "P.M.":
		return s.half(n.key, s.Hour%24 >= 12, "AM", "PM")
	case "AD", "BC", "A.D.", "B.C.":
		return s.half(n.key, s.Year <= 0, "AD", "BC")
	case "HH", "HH12":
		if s.Hour%12 == 0 {
			return n.number(2, 12)
		}
		return n.number(2, s.Hour%12)
	case "HH24":
		return n.number(2, s.Hour)
	case "MI":
		return n.number(2, s.Minute)
	case "SS":
		return n.number(2, s.Second)
	case "MS":
		return n.fraction(3, s.Micros)
	case "US":
		return n.fraction(6, s.Micros)
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return n.fraction(int(key[2]-'0'), s.Micros)
	case "SSSS", "SSSSS":
		n.fill = true
		return n.number(0, s.Hour*3600+s.Minute*60+s.Second)
	case "TZ", "TZH", "TZM", "OF":
		return s.shownZone(n)
	}
	return s.shownDay(n)
}

// half returns one of two words, in the case of its pattern.
func (s *shownTime) half(key string, second bool, first, other string) string {
	word := first
	if second {
		word = other
	}
	if strings.Contains(key, ".") {
		word = word[:1] + "." + word[1:] + "."
	}
	if pgtext.IsLowerASCII(key[0]) {
		return pgtext.LowerASCII(word)
	}
	return word
}

// fraction formats the first digits of the fraction of a second.
func (n timeNode) fraction(digits, micros int) string {
	for range 6 - digits {
		micros /= 10
	}
	text := fmt.Sprintf("%0*d", digits, micros)
	if n.ordinal != "" {
		text += ordinal(text, n.ordinal == "TH")
	}
	return text
}

func (s *shownTime) shownZone(n timeNode) string {
	sign, seconds := '+', s.offset
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	switch n.key {
	case "TZ":
		return s.zone
	case "tz":
		return pgtext.LowerASCII(s.zone)
	case "TZH", "tzh":
		return fmt.Sprintf("%c%02d", sign, seconds/3600)
	case "TZM", "tzm":
		return fmt.Sprintf("%02d", seconds%3600/60)
	}
	text := fmt.Sprintf("%c%02d", sign, seconds/3600)
	if n.fill {
		text = fmt.Sprintf("%c%d", sign, seconds/3600)
	}
	if seconds%3600 != 0 {
		text += fmt.Sprintf(":%02d", seconds%3600/60)
	}
	return text
}

func (s *shownTime) shownDay(n timeNode) string {
	weekday := 0
	if !s.interval {
		weekday = s.date.Weekday()
	}
	switch pgtext.UpperASCII(n.key) {
	case "MONTH":
		return n.name(9, spelled(monthNames[s.Month-1], n.key))
	case "MON":
		return spelled(monthNames[s.Month-1][:3], n.key)
	case "MM":
		return n.number(2, s.Month)
	case "DAY":
		return n.name(9, spelled(dayNames[weekday], n.key))
	case "DY":
		return spelled(dayNames[weekday][:3], n.key)
	case "DDD":
		return n.fixed(3, s.yearDay)
	case "IDDD":
		_, week := datetime.ISOWeek(s.date)
		return n.fixed(3, (week-1)*7+(weekday+6)%7+1)
	case "DD":
		return n.fixed(2, s.Day)
	case "D":
		return n.fixed(0, weekday+1)
	case "ID":
		return n.fixed(0, (weekday+6)%7+1)
	case "WW":
		return n.fixed(2, (s.yearDay-1)/7+1)
	case "IW":
		_, week := datetime.ISOWeek(s.date)
		return n.fixed(2, week)
	case "W":
		return n.fixed(0, (s.Day-1)/7+1)
	case "Q":
		if s.Month == 0 {
			return ""
		}
		return n.fixed(0, (s.Month-1)/3+1)
	case "J":
		return n.fixed(0, int(s.date-temporal.MinDate))
	case "RM":
		return s.roman(n)
	}
	return s.shownYears(n)
}

// roman returns the month in Roman numerals. For a negative interval, months count back from the
// end of the year.
func (s *shownTime) roman(n timeNode) string {
	if s.Month == 0 && s.Year == 0 {
		return ""
	}
	month := s.Month
	if month == 0 {
		month = 12
		if s.Year < 0 {
			month = 1
		}
	}
	if month < 0 {
		month += 13
	}
	text := romans[month-1]
	if pgtext.IsLowerASCII(n.key[0]) {
		text = pgtext.LowerASCII(text)
	}
	return n.name(4, text)
}

func (s *shownTime) shownYears(n timeNode) string {
	key, year := pgtext.UpperASCII(n.key), s.shownYear(s.Year)
	if key[0] == 'I' {
		iso, _ := datetime.ISOWeek(s.date)
		year, key = s.shownYear(iso), strings.ReplaceAll("Y"+key[1:], "I", "Y")
	}
	switch key {
	case "YYYY", "IYYY":
		return n.number(4, year)
	case "YYY", "IYY":
		return n.number(3, year%1000)
	case "YY", "IY":
		return n.number(2, year%100)
	case "Y", "I":
		return n.number(1, year%10)
	case "Y,YYY":
		text := fmt.Sprintf("%d,%03d", year/1000, year%1000)
		if n.ordinal != "" {
			text += ordinal(text, n.ordinal == "TH")
		}
		return text
	case "CC":
		century := s.Year / 100
		if !s.interval && s.Year > 0 {
			century = (s.Year-1)/100 + 1
		} else if !s.interval {
			century--
		}
		if century > 99 || century < -99 {
			n.fill = true
		}
		return n.number(2, century)
	}
	return ""
}

func addTimeFormats(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"timestamp_to_char": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			if t := a[0].(temporal.Timestamp); !t.IsInfinite() {
				return shownStamp(t).format(a[1].(string))
			}
			return nil, nil
		},
		"timestamptz_to_char": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			t := a[0].(temporal.TimestampTZ)
			if t.IsInfinite() {
				return nil, nil
			}
			local := t.Local(env.Settings.Zone)
			s := shownStamp(local)
			s.zone, _ = t.Time().In(env.Settings.Zone).Zone()
			s.offset = int(int64(local-temporal.Timestamp(t)) / temporal.MicrosPerSecond)
			return s.format(a[1].(string))
		},
		"interval_to_char": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return shownInterval(a[0].(temporal.Interval)).format(a[1].(string))
		},
	})
}
