package temporal

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/timezone"
	"fiveways.dev/fiveways/test/postgres/peer"
)

// Names of the types in SQL.
const (
	date        = "date"
	clock       = "time"
	stamp       = "timestamp"
	instant     = "timestamptz"
	span        = "interval"
	moscow      = "Europe/Moscow"
	monthDayISO = "ISO, MDY"
)

// session is what the result of a text depends on.
type session struct{ dateStyle, intervalStyle, zone string }

var plain = session{monthDayISO, "postgres", "UTC"}

func dates(style string) session     { return session{style, "postgres", moscow} }
func intervals(style string) session { return session{monthDayISO, style, "UTC"} }

// settings returns the settings for session s.
func (s session) settings() *Settings {
	var format, order string
	for i := range s.dateStyle {
		if s.dateStyle[i] == ',' {
			format, order = s.dateStyle[:i], s.dateStyle[i+2:]
		}
	}
	return &Settings{Zone: timezone.Lookup(s.zone), DateStyle: DateStyle{Format: format, Order: order}, IntervalStyle: IntervalStyle(s.intervalStyle)}
}

// texts are PostgreSQL 15's results.
var texts = []struct {
	session
	typ, in, out string
}{
	{plain, date, "January 8, 99 BC", "= 0099-01-08 BC"}, {plain, date, "J2451187", "= 1999-01-08"}, {plain, date, "99-Jan-08", `22008 date/time field value out of range: "99-Jan-08"`},
	{plain, date, "infinity", "= infinity"}, {plain, date, "2023-02-29", `22008 date/time field value out of range: "2023-02-29"`},
	{plain, date, "13/1/2000", `22008 date/time field value out of range: "13/1/2000"`}, {dates("ISO, DMY"), date, "13/1/2000", "= 2000-01-13"},
	{plain, date, "5874898-01-01", `22008 date out of range: "5874898-01-01"`}, {plain, date, "4714-11-24 BC", "= 4714-11-24 BC"},
	{dates("German, DMY"), date, "2000-01-13", "= 13.01.2000"}, {dates("SQL, MDY"), date, "2000-01-13", "= 01/13/2000"}, {dates("Postgres, DMY"), date, "2000-01-13", "= 13-01-2000"},
	{plain, clock, "04:05 PM", "= 16:05:00"}, {plain, clock, "24:00:00", "= 24:00:00"}, {plain, clock, "allballs", "= 00:00:00"},
	{plain, clock, "25:00", `22008 date/time field value out of range: "25:00"`}, {plain, clock, "now and then", `22007 invalid input syntax for type time: "now and then"`},
	{plain, stamp, "20000113T040506.7", "= 2000-01-13 04:05:06.7"}, {plain, stamp, "epoch", "= 1970-01-01 00:00:00"},
	{plain, stamp, "294277-01-01", `22008 timestamp out of range: "294277-01-01"`},
	{dates("Postgres, MDY"), stamp, "2000-01-13 04:05:06 BC", "= Sat Jan 13 04:05:06 2000 BC"},
	{dates(monthDayISO), instant, "2000-01-13 12:00", "= 2000-01-13 12:00:00+03"}, {dates(monthDayISO), instant, "2000-07-13 12:00 UTC", "= 2000-07-13 16:00:00+04"},
	{dates("SQL, DMY"), instant, "2000-01-13 12:00+00", "= 13/01/2000 15:00:00 MSK"}, {dates("Postgres, DMY"), instant, "2012-01-13 12:00 MSK", "= Fri 13 Jan 12:00:00 2012 MSK"},
	{plain, instant, "2000-01-13 12:00 Nowhere/Town", `22023 time zone "nowhere/town" not recognized`},
	{plain, instant, "2000-01-13 12:00+16", `22009 time zone displacement out of range: "2000-01-13 12:00+16"`}, {plain, instant, "-infinity", "= -infinity"},
	{plain, span, "P0001-02-03T04:05:06", "= 1 year 2 mons 3 days 04:05:06"},
	{plain, span, "P0001-02", "= 1 year 2 mons"},
	{plain, span, "P-1-2-3", "= -10 mons +3 days"},
	{plain, span, "P00010203T040506", "= 1 year 2 mons 3 days 04:05:06"},
	{plain, span, "PT04:05", "= 04:05:00"},
	{plain, span, "P20", "= 20 years"},
	{plain, span, "PT", "= 00:00:00"},
	{plain, span, "P1-2T3", "= 1 year 2 mons 03:00:00"},
	{plain, span, "P-0001-02-03T-04:05:06", "= -10 mons +3 days -03:54:54"},
	{plain, span, "P0001-02-03T04H", "= 1 year 2 mons 3 days 04:00:00"},
	{plain, span, "P1.5-2", "= 1 year 8 mons"},
	{plain, span, "P000102", "= 102 years"},
	{plain, span, "PT0405", "= 405:00:00"},
	{plain, span, "PT-040506", "= -04:05:06"},
	{plain, span, "P0001-02-03T04:05:06.5", "= 1 year 2 mons 3 days 04:05:06.5"},
	{plain, span, "1 year 2 mons -3 days 04:05:06.7", "= 1 year 2 mons -3 days +04:05:06.7"}, {plain, span, "P1Y2M3DT4H5M6S", "= 1 year 2 mons 3 days 04:05:06"},
	{plain, span, "1.5 months ago", "= -1 mons -15 days"}, {intervals("postgres_verbose"), span, "-1 day 2 hours", "= @ 1 day -2 hours ago"},
	{intervals("iso_8601"), span, "1-2 3 4:05:06", "= P1Y2M3DT4H5M6S"}, {intervals("sql_standard"), span, "-1 2:03:04", "= -1 2:03:04"},
	{plain, span, "178956971 years", "22008 interval out of range"}, {plain, span, "2147483648 days", `22015 interval field value out of range: "2147483648 days"`},
	{plain, span, "P1Y2-3", `22007 invalid input syntax for type interval: "P1Y2-3"`},
	{plain, span, "PT4:5:6X", `22007 invalid input syntax for type interval: "PT4:5:6X"`},
	{plain, span, "P1-2-3-4", `22007 invalid input syntax for type interval: "P1-2-3-4"`},
	{plain, span, "P0001-02-03T04:05:06Z", `22007 invalid input syntax for type interval: "P0001-02-03T04:05:06Z"`},
	{plain, span, "P", `22007 invalid input syntax for type interval: "P"`},
	{plain, span, "P+1Y", `22007 invalid input syntax for type interval: "P+1Y"`},
	{plain, span, "1 day 1 day", `22007 invalid input syntax for type interval: "1 day 1 day"`},
}

// parsed parses and formats a text, and shows the result like peer.Answer.
func parsed(typ, s string, set *Settings) string {
	var text []byte
	var err error
	switch typ {
	case date:
		var d Date
		d, err = ParseDate(s, set)
		text = d.Append(nil, set.DateStyle)
	case clock:
		var t Time
		t, err = ParseTime(s, set)
		text = t.Append(nil)
	case stamp:
		var t Timestamp
		t, err = ParseTimestamp(s, set)
		text = t.Append(nil, set.DateStyle)
	case instant:
		var t TimestampTZ
		t, err = ParseTimestampTZ(s, set)
		text = t.Append(nil, set.DateStyle, set.Zone)
	case span:
		var i Interval
		i, err = ParseInterval(s, AllFields, set.IntervalStyle)
		text = i.Append(nil, set.IntervalStyle)
	}
	if e, ok := errors.AsType[*pgerror.Error](err); ok {
		return e.Code + " " + e.Message
	}
	return "= " + string(text)
}

func TestTexts(t *testing.T) {
	for _, c := range texts {
		if got := parsed(c.typ, c.in, c.settings()); got != c.out {
			t.Errorf("%s %q (%v): %s, want %s", c.typ, c.in, c.session, got, c.out)
		}
	}
}

func TestTextsLikePostgreSQL(t *testing.T) {
	p := peer.New(t)
	for _, c := range texts {
		p.Exec(fmt.Sprintf("set datestyle = '%s'; set intervalstyle = '%s'; set timezone = '%s'", c.dateStyle, c.intervalStyle, c.zone))
		if got := p.Ask("select $1::"+c.typ, []byte(c.in), 0, 0).String(); got != c.out {
			t.Errorf("PostgreSQL: %s %q (%v) is %s, not %s", c.typ, c.in, c.session, got, c.out)
		}
	}
}

// TestReserved: now, today and their like depend on the session's clock and zone.
func TestReserved(t *testing.T) {
	set := plain.settings()
	set.Now = FromTime(time.Date(2024, 2, 28, 22, 30, 0, 5000, time.UTC))
	set.Zone = timezone.Lookup(moscow)
	for _, c := range []struct{ typ, in, out string }{
		{date, "today", "= 2024-02-29"}, {date, "tomorrow", "= 2024-03-01"}, {date, "yesterday", "= 2024-02-28"}, {clock, "now", "= 01:30:00.000005"},
		{instant, "now", "= 2024-02-29 01:30:00.000005+03"}, {stamp, "today", "= 2024-02-29 00:00:00"},
	} {
		if got := parsed(c.typ, c.in, set); got != c.out {
			t.Errorf("%s %q: %s, want %s", c.typ, c.in, got, c.out)
		}
	}
}

// TestCalendar compares every day from the first of the range to the year 10000 with package time.
func TestCalendar(t *testing.T) {
	last := DateOf(10000, 1, 1)
	for d, at := MinDate, MinDate.time(); d < last; d, at = d+1, at.AddDate(0, 0, 1) {
		year, month, day := d.Civil()
		if year != at.Year() || month != int(at.Month()) || day != at.Day() || d.Weekday() != int(at.Weekday()) {
			t.Fatalf("day %d is %d-%d-%d, weekday %d, want %s", d, year, month, day, d.Weekday(), at)
		}
		if back := DateOf(year, month, day); back != d {
			t.Fatalf("%d-%d-%d is day %d, want %d", year, month, day, back, d)
		}
	}
}

func (d Date) time() time.Time { return time.Date(2000, 1, 1+int(d), 0, 0, 0, 0, time.UTC) }

// TestLocalTimes: where clocks are set forward, the skipped hour has the offset before; where they
// are set back, the repeated hour is the later one.
func TestLocalTimes(t *testing.T) {
	newYork, set := timezone.Lookup("America/New_York"), plain.settings()
	for local, want := range map[string]string{
		"2024-03-10 01:59": "2024-03-10 06:59:00", "2024-03-10 02:30": "2024-03-10 07:30:00", "2024-03-10 03:00": "2024-03-10 07:00:00",
		"2024-11-03 00:59": "2024-11-03 04:59:00", "2024-11-03 01:30": "2024-11-03 06:30:00", "2024-11-03 02:00": "2024-11-03 07:00:00",
		"infinity": "infinity",
	} {
		at, err := ParseTimestamp(local, set)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Timestamp(at.In(newYork)).Append(nil, set.DateStyle)); got != want {
			t.Errorf("%s in New York is %s UTC, want %s", local, got, want)
		}
	}
}

// TestAdd: months come first, then days, then the time; a day that a month does not have becomes
// its last.
func TestAdd(t *testing.T) {
	set := plain.settings()
	for _, c := range []struct{ at, by, out string }{
		{"2024-01-31 12:00", "1 mon", "2024-02-29 12:00:00"}, {"2024-01-31", "1 mon 1 day", "2024-03-01 00:00:00"}, {"2024-03-31", "-13 mons", "2023-02-28 00:00:00"},
		{"2000-01-01", "-1 us", "1999-12-31 23:59:59.999999"}, {"infinity", "1 day", "infinity"},
		{"294276-12-31", "1 day", "timestamp out of range"}, {"4714-11-24 BC", "-1 us", "timestamp out of range"},
	} {
		at, err := ParseTimestamp(c.at, set)
		by, err2 := ParseInterval(c.by, AllFields, set.IntervalStyle)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		sum, err := at.Add(by)
		got := string(sum.Append(nil, set.DateStyle))
		if err != nil {
			got = err.Error()
		}
		if got != c.out {
			t.Errorf("%s + %s is %s, want %s", c.at, c.by, got, c.out)
		}
	}
}

// TestFields: an interval keeps the fields of its declaration, which also give a plain number its
// unit.
func TestFields(t *testing.T) {
	for fields, want := range map[Fields]struct{ name, kept, number string }{
		fieldYear: {" year", "1 year", "7 years"}, fieldYear | fieldMonth: {" year to month", "1 year 2 mons", "7 mons"},
		fieldDay: {" day", "1 year 2 mons 3 days", "7 days"}, fieldDay | fieldHour: {" day to hour", "1 year 2 mons 3 days 04:00:00", "07:00:00"},
		fieldHour | fieldMinute: {" hour to minute", "1 year 2 mons 3 days 04:05:00", "00:07:00"},
		AllFields:               {"", "1 year 2 mons 3 days 04:05:06.7", "00:00:07"},
	} {
		full := Interval{Months: 14, Days: 3, Micros: 4*MicrosPerHour + 5*MicrosPerMinute + 6_700_000}
		if got := string(full.Keep(fields).Append(nil, "postgres")); got != want.kept || !fields.Valid() || fields.String() != want.name {
			t.Errorf("interval%s: %s (%t), want %s and %q", fields, got, fields.Valid(), want.kept, want.name)
		}
		seven, err := ParseInterval("7", fields, "postgres")
		if got := string(seven.Append(nil, "postgres")); err != nil || got != want.number {
			t.Errorf("7 as interval%s: %s, %v, want %s", fields, got, err, want.number)
		}
	}
	if f := fieldYear | fieldDay; f.Valid() {
		t.Error("year and day without month is valid")
	}
}

// TestRound rounds half away from zero.
func TestRound(t *testing.T) {
	for _, c := range []struct {
		micros int64
		digits int32
		want   int64
	}{{1_500_000, 0, 2_000_000}, {-1_500_000, 0, -2_000_000}, {1_449_999, 1, 1_400_000}, {123, 6, 123}, {123, 0xffff, 123}} {
		if got := Timestamp(c.micros).Round(c.digits); got != Timestamp(c.want) {
			t.Errorf("timestamp %d rounded to %d digits is %d, want %d", c.micros, c.digits, got, c.want)
		}
		if got := (Interval{Micros: c.micros}).Round(c.digits); got.Micros != c.want {
			t.Errorf("interval %d rounded to %d digits is %d, want %d", c.micros, c.digits, got.Micros, c.want)
		}
	}
	if got := Time(MicrosPerDay - 1).Round(0); got != Time(MicrosPerDay) {
		t.Errorf("the last microsecond of a day rounds to %d", got)
	}
	if got := TimestampTZInfinity.Round(0); got != TimestampTZInfinity {
		t.Errorf("infinity rounds to %d", got)
	}
}

// FuzzTexts: no text makes a parser panic, and what it accepts reads back.
func FuzzTexts(f *testing.F) {
	for i, c := range texts {
		f.Add(i, c.in)
	}
	f.Fuzz(func(t *testing.T, which int, s string) {
		c := texts[uint(which)%uint(len(texts))]
		shown := parsed(c.typ, s, plain.settings())
		if shown[0] != '=' {
			return
		}
		if again := parsed(c.typ, shown[len("= "):], plain.settings()); again != shown {
			t.Errorf("%s %q is %s and reads back as %s", c.typ, s, shown, again)
		}
	})
}
