package temporal

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// intervalReader accumulates the parts of an interval. It follows PostgreSQL's DecodeInterval,
// which reads fields from last to first, so that a unit is known before its number.
type intervalReader struct {
	months, days, micros int64
	fields               Fields // they determine the unit of a plain number
	forceNegative        bool
	seen                 map[unit]bool
	next                 unit // unit of the next number, from right to left
	open                 bool // next has no number yet
	ago                  bool
}

// ParseInterval parses the text of an interval of the given fields.
func ParseInterval(s string, fields Fields, style IntervalStyle) (Interval, error) {
	r := intervalReader{fields: fields, seen: map[unit]bool{}}
	err := dateBad
	parts, ok := scanFields(s)
	if ok {
		r.forceNegative = style == "sql_standard" && len(parts) > 0 && parts[0].text[0] == '-' && !otherSigns(parts)
		err = r.decode(parts)
	}
	if err == dateBad {
		r = intervalReader{fields: AllFields}
		err = r.iso(strings.TrimSpace(s))
	}
	if err == dateOverflow {
		err = dateIntervalOverflow
	}
	if err != dateOK {
		return Interval{}, err.error("interval", s, "")
	}
	if r.months != int64(int32(r.months)) {
		return Interval{}, pgerror.New(pgerror.DatetimeOverflow, "interval out of range")
	}
	if r.days != int64(int32(r.days)) {
		return Interval{}, dateIntervalOverflow.error("interval", s, "")
	}
	return Interval{Months: int32(r.months), Days: int32(r.days), Micros: r.micros}, nil
}

// otherSigns reports whether any field after the first has an explicit sign.
func otherSigns(fields []field) bool {
	for _, f := range fields[1:] {
		if f.text[0] == '-' || f.text[0] == '+' {
			return true
		}
	}
	return false
}

func (r *intervalReader) decode(fields []field) dateError {
	for i := len(fields) - 1; i >= 0; i-- {
		if err := r.field(fields[i]); err != dateOK {
			return err
		}
	}
	if len(r.seen) == 0 || r.open {
		return dateBad
	}
	if r.ago {
		if r.micros == math.MinInt64 {
			return dateOverflow
		}
		r.months, r.days, r.micros = -r.months, -r.days, -r.micros
	}
	return dateOK
}

func (r *intervalReader) field(f field) dateError {
	switch f.kind {
	case fieldTime:
		return r.clock(f.text, false)
	case fieldZone:
		if strings.Contains(f.text, ":") {
			if err := r.clock(f.text[1:], f.text[0] == '-'); err == dateOK {
				r.open = false // as in PostgreSQL, a unit after an unsigned clock still waits for its number
				return err
			}
		}
		return r.number(f.text)
	case fieldDate, fieldNumber:
		return r.number(f.text)
	}
	u, ok := intervalUnits[cutWord(f.text)]
	if r.open || !ok {
		return dateBad
	}
	if u == unitAgo {
		r.ago, r.next = true, unitNone
		return dateOK
	}
	r.next, r.open = u, true
	return dateOK
}

func (r *intervalReader) see(units ...unit) dateError {
	for _, u := range units {
		if r.seen[u] {
			return dateBad
		}
	}
	for _, u := range units {
		r.seen[u] = true
	}
	return dateOK
}

func (r *intervalReader) clock(text string, negative bool) dateError {
	hour, minute, second, micros, err := decodeClock(text)
	if err != dateOK {
		return err
	}
	if r.fields == fieldMinute|fieldSecond && strings.Count(text, ":") == 1 && !strings.Contains(text, ".") {
		hour, minute, second = 0, int(hour), minute
	}
	if err := r.see(unitHour, unitMinute, unitSecond); err != dateOK {
		return err
	}
	if hour > math.MaxInt64/MicrosPerHour-1 {
		return dateOverflow
	}
	total := hour*MicrosPerHour + int64(minute)*MicrosPerMinute + int64(second)*MicrosPerSecond + micros
	if negative || r.forceNegative {
		total = -total
	}
	r.next = unitDay
	return r.addMicros(total)
}

// rightmost returns the unit of a plain number at the end.
func (r *intervalReader) rightmost() unit {
	for _, p := range []struct {
		field Fields
		unit  unit
	}{{fieldSecond, unitSecond}, {fieldMinute, unitMinute}, {fieldHour, unitHour}, {fieldDay, unitDay}, {fieldMonth, unitMonth}, {fieldYear, unitYear}} {
		if r.fields != AllFields && r.fields&p.field != 0 {
			return p.unit
		}
	}
	return unitSecond
}

func (r *intervalReader) number(text string) dateError {
	u := r.next
	if u == unitNone {
		u = r.rightmost()
	}
	r.open = false
	negative := text[0] == '-'
	body := strings.TrimLeft(text, "+-")
	if years, months, ok := strings.Cut(body, "-"); ok && pgtext.AllDigits(years) {
		return r.yearsMonths(years, months, negative)
	}
	whole, fraction, dotted := strings.Cut(body, ".")
	if whole == "" {
		whole = "0"
	}
	if !pgtext.AllDigits(whole) || fraction != "" && !pgtext.AllDigits(fraction) {
		return dateBad
	}
	v, err := strconv.ParseInt(whole, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return dateOverflow
	}
	part := 0.0
	if dotted {
		part, _ = strconv.ParseFloat("0."+fraction+"0", 64)
	}
	if negative || r.forceNegative {
		v, part = -v, -part
	}
	r.next = u
	return r.add(u, v, part)
}

func (r *intervalReader) yearsMonths(years, months string, negative bool) dateError {
	y, err := strconv.ParseInt(years, 10, 32)
	if err != nil {
		return dateOverflow
	}
	after := strings.TrimLeft(months, "0123456789")
	m, err := strconv.Atoi("0" + months[:len(months)-len(after)])
	if err != nil || m >= 12 {
		return dateOverflow
	}
	if after != "" {
		return dateBad
	}
	total := y*12 + int64(m)
	if negative || r.forceNegative {
		total = -total
	}
	r.next = unitMonth
	return r.add(unitMonth, total, 0)
}

func (r *intervalReader) addMicros(n int64) dateError {
	sum := r.micros + n
	if (n > 0) != (sum > r.micros) && n != 0 {
		return dateOverflow
	}
	r.micros = sum
	return dateOK
}

// scaled returns v * scale. ok is false if it overflows.
func scaled(v, scale int64) (int64, bool) {
	product := v * scale
	return product, v == 0 || product/scale == v && !(v == -1 && scale == math.MinInt64)
}

var unitMicros = map[unit]int64{
	unitMicrosecond: 1, unitMillisecond: 1000, unitSecond: MicrosPerSecond, unitMinute: MicrosPerMinute, unitHour: MicrosPerHour,
}

var unitMonths = map[unit]int64{unitMonth: 1, unitYear: 12, unitDecade: 120, unitCentury: 1200, unitMillennium: 12000}

// add adds v and a fraction, in the given unit.
func (r *intervalReader) add(u unit, v int64, fraction float64) dateError {
	if r.seen != nil {
		units := []unit{u}
		if u == unitSecond && fraction != 0 {
			units = []unit{unitSecond, unitMillisecond, unitMicrosecond}
		}
		if err := r.see(units...); err != dateOK {
			return err
		}
	}
	if scale, ok := unitMicros[u]; ok {
		n, ok := scaled(v, scale)
		if !ok {
			return dateOverflow
		}
		if err := r.addMicros(n); err != dateOK {
			return err
		}
		return r.addFraction(fraction, scale)
	}
	switch u {
	case unitDay, unitWeek:
		scale := int64(1)
		if u == unitWeek {
			scale = 7
		}
		n, ok := scaled(v, scale)
		if r.days += n; !ok || n != int64(int32(n)) {
			return dateOverflow
		}
		return r.addDays(fraction, scale)
	}
	scale := unitMonths[u]
	n, ok := scaled(v, scale)
	years := n
	if u != unitMonth {
		years = n / 12 // they are accumulated separately
	}
	if r.months += n; !ok || years != int64(int32(years)) {
		return dateOverflow
	}
	if u == unitMonth {
		return r.addDays(fraction, DaysPerMonth)
	}
	r.months += int64(math.RoundToEven(fraction * float64(scale)))
	return dateOK
}

// addDays adds a fraction of a unit of scale days, as whole days and a time.
func (r *intervalReader) addDays(fraction float64, scale int64) dateError {
	whole, rest := math.Modf(fraction * float64(scale))
	r.days += int64(whole)
	return r.addFraction(rest, MicrosPerDay)
}

// addFraction adds a fraction of a unit, rounded to the nearest microsecond.
func (r *intervalReader) addFraction(fraction float64, scale int64) dateError {
	whole, rest := math.Modf(fraction * float64(scale))
	if rest > 0.5 {
		whole++
	} else if rest < -0.5 {
		whole--
	}
	return r.addMicros(int64(whole))
}

// isoPart is the part of an ISO 8601 interval before or after the T.
type isoPart struct {
	units     map[byte]unit
	order     [3]unit // in the alternative format
	separator byte    // of its extended form
	width     int     // of its basic form, which has no separators
}

var (
	isoDate = isoPart{map[byte]unit{'Y': unitYear, 'M': unitMonth, 'W': unitWeek, 'D': unitDay}, [3]unit{unitYear, unitMonth, unitDay}, '-', 8}
	isoTime = isoPart{map[byte]unit{'H': unitHour, 'M': unitMinute, 'S': unitSecond}, [3]unit{unitHour, unitMinute, unitSecond}, ':', 6}
)

// iso parses the ISO 8601 format P1Y2M3W4DT5H6M7S and the alternative format P0001-02-03T04:05:06.
func (r *intervalReader) iso(s string) dateError {
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || rest == "" {
		return dateBad
	}
	part, first := &isoDate, true
	for rest != "" {
		if rest[0] == 'T' {
			part, first, rest = &isoTime, true, rest[1:]
			continue
		}
		number, after := isoDigits(rest)
		u := unitNone
		if after != "" {
			u = part.units[after[0]]
		}
		var err dateError
		switch {
		case u != unitNone:
			rest, err = after[1:], r.isoAdd(u, number)
		case first:
			rest, err = r.isoAlternative(part, rest)
		default:
			err = dateBad
		}
		if err != dateOK {
			return err
		}
		first = false
	}
	return dateOK
}

// isoAlternative parses a whole part of the alternative format, and returns what follows it.
func (r *intervalReader) isoAlternative(part *isoPart, rest string) (string, dateError) {
	ends := func(rest string) bool { return rest == "" || rest[0] == 'T' && part == &isoDate }
	number, after := isoDigits(rest)
	whole, fraction, err := isoNumber(number)
	if digits, _, _ := strings.Cut(strings.TrimPrefix(number, "-"), "."); err == dateOK && len(digits) == part.width && ends(after) {
		for i, n := range [3]int64{whole / 10000, whole / 100 % 100, whole % 100} {
			of := 0.0
			if i == len(part.order)-1 {
				of = fraction
			}
			if err := r.add(part.order[i], n, of); err != dateOK {
				return "", err
			}
		}
		return after, dateOK
	}
	for _, u := range part.order {
		number, after := isoDigits(rest)
		if err := r.isoAdd(u, number); err != dateOK || ends(after) {
			return after, err
		}
		if after[0] != part.separator {
			return "", dateBad
		}
		rest = after[1:]
	}
	return "", dateBad
}

func (r *intervalReader) isoAdd(u unit, number string) dateError {
	whole, fraction, err := isoNumber(number)
	if err != dateOK {
		return err
	}
	return r.add(u, whole, fraction)
}

// isoDigits splits off a number.
func isoDigits(s string) (number, rest string) {
	rest = strings.TrimLeft(strings.TrimPrefix(s, "-"), "0123456789")
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		rest = strings.TrimLeft(fraction, "0123456789")
	}
	return s[:len(s)-len(rest)], rest
}

func isoNumber(s string) (whole int64, fraction float64, _ dateError) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, 0, dateBad
	}
	if math.Abs(f) > math.MaxInt32*1000.0 {
		return 0, 0, dateOverflow
	}
	text, _, _ := strings.Cut(s, ".")
	whole, _ = strconv.ParseInt(text, 10, 64)
	return whole, f - float64(whole), dateOK
}
