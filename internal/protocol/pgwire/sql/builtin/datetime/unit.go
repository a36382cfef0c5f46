package datetime

import (
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// unitNames maps all spellings of units for extract and date_trunc to the units. Only the first ten
// letters are significant.
var unitNames = func() map[string]string {
	spellings := map[string]string{
		"microsecond": "microsecon us usec usecond useconds usecs", "millisecond": "millisecon ms msec msecond mseconds msecs",
		"second": "s sec second seconds secs", "minute": "m min mins minute minutes", "hour": "h hour hours hr hrs", "day": "d day days",
		"week": "w week weeks", "month": "mon mons month months", "quarter": "qtr quarter", "year": "y year years yr yrs",
		"decade": "dec decade decades decs", "century": "c cent centuries century", "millennium": "mil millennia millennium mils",
		"timezone": "timezone", "timezone_hour": "timezone_h", "timezone_minute": "timezone_m",
		"dow": "dow", "isodow": "isodow", "doy": "doy", "isoyear": "isoyear", "julian": "j jd julian", "epoch": "epoch",
	}
	names := map[string]string{}
	for unit, all := range spellings {
		for _, name := range strings.Fields(all) {
			names[name] = unit
		}
	}
	return names
}()

// maxUnit is the number of significant letters in a unit name.
const maxUnit = 10

// unitOf returns the unit with the given name for a type.
func unitOf(name string, t *value.Type) (string, error) {
	short := pgtext.LowerASCII(name)
	if len(short) > maxUnit {
		short = short[:maxUnit]
	}
	unit, ok := unitNames[short]
	if !ok {
		return "", pgerror.New(pgerror.InvalidParameterValue, "unit \"%s\" not recognized for type %s", pgtext.LowerASCII(name), t)
	}
	return unit, nil
}

func errUnit(name string, t *value.Type) *pgerror.Error {
	return pgerror.New(pgerror.FeatureNotSupported, "unit \"%s\" not supported for type %s", pgtext.LowerASCII(name), t)
}

// errCut returns the error for a unit that date_trunc cannot truncate to.
func errCut(unit, name string, t *value.Type) error {
	if strings.HasPrefix(unit, "timezone") {
		return errUnit(name, t)
	}
	return pgerror.New(pgerror.InvalidParameterValue, "unit \"%s\" not recognized for type %s", pgtext.LowerASCII(name), t)
}

// unitOrder orders the units that date_trunc supports, smallest first.
var unitOrder = map[string]int{
	"microsecond": 0, "millisecond": 1, "second": 2, "minute": 3, "hour": 4, "day": 5, "week": 6, "month": 7, "quarter": 8, "year": 9,
	"decade": 10, "century": 11, "millennium": 12,
}

// yearsOf rounds a year (0 is 1 BC) down to the first year of its decade, century or millennium.
func yearsOf(year int, unit string) int {
	switch unit {
	case "millennium":
		if year > 0 {
			return (year+999)/1000*1000 - 999
		}
		return -((999-(year-1))/1000)*1000 + 1
	case "century":
		if year > 0 {
			return (year+99)/100*100 - 99
		}
		return -((99-(year-1))/100)*100 + 1
	case "decade":
		if year > 0 {
			return year / 10 * 10
		}
		return -((8 - (year - 1)) / 10) * 10
	}
	return year
}

// truncate implements date_trunc for timestamps.
func truncate(name string, t stamp, of *value.Type) (stamp, error) {
	if t.IsInfinite() {
		return t, nil
	}
	unit, err := unitOf(name, of)
	if err != nil {
		return 0, err
	}
	order, ok := unitOrder[unit]
	if !ok {
		return 0, errCut(unit, name, of)
	}
	if unit == "week" {
		d, _ := t.Split()
		return temporal.TimestampOf(d-date((d.Weekday()+6)%7), 0)
	}
	p := Split(t)
	if order > 9 {
		p.Year = yearsOf(p.Year, unit)
	}
	if order >= 9 {
		p.Month = 1
	}
	if unit == "quarter" {
		p.Month = 3*((p.Month-1)/3) + 1
	}
	if order >= 7 {
		p.Day = 1
	}
	for i, field := range []*int{&p.Micros, &p.Second, &p.Minute, &p.Hour} {
		if order > i+1 {
			*field = 0
		}
	}
	if unit == "millisecond" {
		p.Micros = p.Micros / 1000 * 1000
	}
	return p.stamp()
}

// truncateInZone implements date_trunc for timestamps with time zone, in local time of a zone. For
// days and larger units, the result has its own UTC offset.
func truncateInZone(name string, t instant, zone *time.Location) (instant, error) {
	if t.IsInfinite() {
		return t, nil
	}
	local := t.Local(zone)
	cut, err := truncate(name, local, value.TimestampTZType)
	if err != nil {
		return 0, err
	}
	if unit, _ := unitOf(name, value.TimestampTZType); unitOrder[unit] < unitOrder["day"] {
		return t - instant(local-cut), nil
	}
	return cut.In(zone), nil
}

// truncateInterval implements date_trunc for intervals.
func truncateInterval(name string, i interval) (interval, error) {
	unit, err := unitOf(name, value.IntervalType)
	if err != nil {
		return i, err
	}
	order, ok := unitOrder[unit]
	if unit == "week" {
		return i, errUnit(name, value.IntervalType).WithDetail("Months usually have fractional weeks.")
	}
	if !ok {
		return i, errCut(unit, name, value.IntervalType)
	}
	months := map[string]int32{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}
	if n, ok := months[unit]; ok {
		return interval{Months: i.Months / n * n}, nil
	}
	micros := [...]int64{1, 1000, temporal.MicrosPerSecond, temporal.MicrosPerMinute, temporal.MicrosPerHour, temporal.MicrosPerDay}[order]
	if unit == "day" {
		i.Micros = 0
	}
	i.Micros = i.Micros / micros * micros
	return i, nil
}

func addTruncations(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"timestamp_trunc": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(truncate(a[0].(string), a[1].(stamp), value.TimestampType))
		},
		"timestamptz_trunc": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(truncateInZone(a[0].(string), a[1].(instant), env.Settings.Zone))
		},
		"timestamptz_trunc_zone": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			if t := a[1].(instant); t.IsInfinite() {
				return t, nil
			}
			zone, err := zoneNamed(a[2].(string))
			if err != nil {
				return nil, err
			}
			return value.Result(truncateInZone(a[0].(string), a[1].(instant), zone))
		},
		"interval_trunc": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Result(truncateInterval(a[0].(string), a[1].(interval)))
		},
	})
}
