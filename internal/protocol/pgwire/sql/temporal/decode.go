package temporal

import (
	"math"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/timezone"
)

// fieldMask is a set of date and time fields.
type fieldMask uint

const (
	maskYear fieldMask = 1 << iota
	maskMonth
	maskDay
	maskYearDay
	maskHour
	maskMinute
	maskSecond
	maskZone
	maskHalfDay
	maskEra
	maskWeekday

	maskDate = maskYear | maskMonth | maskDay
	maskTime = maskHour | maskMinute | maskSecond
)

// moment holds the fields of a date as they are parsed. It follows PostgreSQL's DecodeDateTime,
// including its odd rules.
type moment struct {
	set      *Settings
	timeOnly bool

	mask                 fieldMask
	year, month, day     int
	yearDay              int
	hour, minute, second int
	micros               int64 // of the second
	zone                 *time.Location
	offset               int       // seconds east of UTC, if zone is nil and maskZone is set
	special              Timestamp // an infinity, or epoch

	textMonth, twoDigits, julian, bc, isSpecial bool
	halfDay                                     int
	pending                                     wordKind // what the preceding word means for the current field: wordISOTime or wordJulian
	badZone                                     string
	abbreviation                                string // of the zone, if given as an abbreviation
}

// decode decodes the fields one by one.
func (m *moment) decode(fields []field) dateError {
	for i, f := range fields {
		read := func() (fieldMask, dateError) { return m.field(f, fields[i+1:]) }
		if i == 0 && m.timeOnly && startsWithDate(fields) {
			read = func() (fieldMask, dateError) { return m.date(f.text) }
		}
		found, err := read()
		if err != dateOK {
			return err
		}
		if err = m.add(found); err != dateOK {
			return err
		}
	}
	return m.validate()
}

// startsWithDate reports whether a time is preceded by a date, which is used only to determine the
// zone's offset.
func startsWithDate(fields []field) bool {
	if len(fields) < 2 {
		return false
	}
	zoned := fields[len(fields)-1].kind == fieldDate
	return fields[0].kind == fieldDate && (zoned || fields[1].kind == fieldTime) ||
		fields[0].kind == fieldNumber && zoned && strings.Contains(fields[0].text, ".")
}

// add records the fields found. A duplicate field is an error.
func (m *moment) add(found fieldMask) dateError {
	if m.mask&found != 0 {
		return dateBad
	}
	m.mask |= found
	return dateOK
}

func (m *moment) field(f field, after []field) (fieldMask, dateError) {
	switch f.kind {
	case fieldDate:
		return m.dateField(f.text)
	case fieldTime:
		if m.pending != wordIgnored && m.pending != wordISOTime {
			return 0, dateBad
		}
		m.pending = wordIgnored
		return m.clock(f.text)
	case fieldZone:
		return m.offsetField(f.text)
	case fieldNumber:
		return m.numberField(f.text)
	}
	return m.word(f.text, after)
}

func (m *moment) offsetField(text string) (fieldMask, dateError) {
	seconds, err := decodeZone(text)
	m.offset, m.zone = seconds, nil
	return maskZone, err
}

// dateField decodes a date or, if there already is one, a zone name with punctuation or hhmmss-zz.
func (m *moment) dateField(text string) (fieldMask, dateError) {
	if m.pending == wordIgnored && !m.timeOnly && m.mask&(maskMonth|maskDay) != maskMonth|maskDay {
		return m.date(text)
	}
	if !isDigit(text[0]) && m.pending == wordIgnored {
		return m.namedZone(text, dateZoneUnknown)
	}
	if m.pending != wordIgnored && m.pending != wordISOTime {
		return 0, dateBad
	}
	m.pending = wordIgnored
	i := strings.IndexByte(text, '-')
	if i < 0 || m.mask&maskTime == maskTime {
		return 0, dateBad
	}
	if _, err := m.offsetField(text[i:]); err != dateOK {
		return 0, err
	}
	found, err := m.runTogether(text[:i], m.mask|maskDate)
	return found | maskZone, err
}

func (m *moment) namedZone(name string, otherwise dateError) (fieldMask, dateError) {
	zone := timezone.Lookup(name)
	if zone == nil {
		m.badZone = name
		return 0, otherwise
	}
	m.zone = zone
	return maskZone, dateOK
}

// numberField decodes a part of a date, an unseparated date or time, or what the preceding word
// announced.
func (m *moment) numberField(text string) (fieldMask, dateError) {
	switch m.pending {
	case wordISOTime:
		m.pending = wordIgnored
		found, err := m.runTogether(text, m.mask|maskDate)
		if err == dateOK && found != maskTime {
			err = dateBad
		}
		return found, err
	case wordJulian:
		m.pending = wordIgnored
		return m.julianDay(text)
	}
	mask := m.mask
	if m.timeOnly {
		mask |= maskDate
	}
	dot := strings.IndexByte(text, '.')
	switch {
	case dot >= 0 && mask&maskDate == 0:
		return m.date(text)
	case dot > 2:
		return m.runTogether(text, mask)
	case m.timeOnly && dot >= 0:
		return 0, dateBad
	case len(text) >= 6 && (mask&maskDate == 0 || mask&maskTime == 0), m.timeOnly && len(text) > 4:
		return m.runTogether(text, mask)
	}
	return m.number(text, mask)
}

func (m *moment) julianDay(text string) (fieldMask, dateError) {
	whole, fraction, _ := strings.Cut(text, ".")
	day, err := strconv.Atoi(whole)
	if err != nil || day < 0 || day > math.MaxInt32-1 {
		return 0, dateOverflow
	}
	m.julian = true
	m.year, m.month, m.day = fromJulian(day)
	if fraction == "" {
		return maskDate, dateOK
	}
	part, _ := strconv.ParseFloat("0."+fraction, 64)
	micros := int64(math.RoundToEven(part * float64(MicrosPerDay)))
	m.setClock(micros)
	return maskDate | maskTime, dateOK
}

func (m *moment) setClock(micros int64) {
	m.hour, m.minute = int(micros/MicrosPerHour), int(micros/MicrosPerMinute%60)
	m.second, m.micros = int(micros/MicrosPerSecond%60), micros%MicrosPerSecond
}

// number decodes one number, depending on the known fields and the order of DateStyle.
func (m *moment) number(text string, mask fieldMask) (fieldMask, dateError) {
	whole, fraction, dotted := strings.Cut(text, ".")
	v, err := strconv.ParseInt(whole, 10, 32)
	if err != nil {
		return 0, dateOverflow
	}
	if dotted {
		if len(whole) > 2 {
			return m.runTogether(text, mask|maskDate)
		}
		m.micros = fractionMicros(fraction)
	}
	n := int(v)
	if len(text) == 3 && mask&maskDate == maskYear && n >= 1 && n <= 366 {
		m.yearDay = n
		return maskYearDay | maskMonth | maskDay, dateOK
	}
	var found fieldMask
	switch order := m.set.DateStyle.Order; mask & maskDate {
	case 0:
		found = maskMonth
		if len(text) >= 3 || order == "YMD" {
			found = maskYear
		} else if order == "DMY" {
			found = maskDay
		}
	case maskYear, maskDay:
		found = maskMonth
	case maskMonth:
		found = maskDay
		if m.textMonth && (len(text) >= 3 || order == "YMD") {
			found = maskYear
		}
	case maskYear | maskMonth:
		found = maskDay
		if m.textMonth && len(text) >= 3 && m.twoDigits {
			m.day, m.year, m.twoDigits = m.year, n, false // the first number was the day, not the year
			return maskDay, dateOK
		}
	case maskMonth | maskDay:
		found = maskYear
	case maskDate:
		return m.runTogether(text, mask)
	default:
		return 0, dateBad
	}
	switch found {
	case maskYear:
		m.year, m.twoDigits = n, len(text) <= 2
	case maskMonth:
		m.month = n
	case maskDay:
		m.day = n
	}
	return found, dateOK
}

// runTogether decodes yyyymmdd or yymmdd if there is no date yet, otherwise hhmmss or hhmm.
func (m *moment) runTogether(text string, mask fieldMask) (fieldMask, dateError) {
	text, fraction, dotted := strings.Cut(text, ".")
	if dotted {
		m.micros = fractionMicros(fraction)
	} else if mask&maskDate != maskDate && len(text) >= 6 {
		n := len(text)
		year, err := strconv.ParseInt(text[:n-4], 10, 32)
		if err != nil {
			return 0, dateOverflow
		}
		m.year, m.month, m.day = int(year), number2(text[n-4:]), number2(text[n-2:])
		m.twoDigits = m.twoDigits || n == 6
		return maskDate, dateOK
	}
	if mask&maskTime == maskTime {
		return 0, dateBad
	}
	switch len(text) {
	case 6:
		m.hour, m.minute, m.second = number2(text), number2(text[2:]), number2(text[4:])
	case 4:
		m.hour, m.minute, m.second = number2(text), number2(text[2:]), 0
	default:
		return 0, dateBad
	}
	return maskTime, dateOK
}

func number2(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

// fractionMicros rounds the digits after a decimal point to microseconds.
func fractionMicros(digits string) int64 {
	f, _ := strconv.ParseFloat("0."+digits+"0", 64)
	return int64(math.RoundToEven(f * float64(MicrosPerSecond)))
}

// date parses three numbers, or two and a month name, with any separators.
func (m *moment) date(text string) (found fieldMask, _ dateError) {
	outside := m.textMonth
	m.textMonth = false // only a month name in this field counts
	defer func() { m.textMonth = outside }()
	var parts []string
	for rest := text; rest != ""; {
		start := strings.IndexFunc(rest, func(r rune) bool { return r >= 0x80 || isDigit(byte(r)) || isAlpha(byte(r)) })
		if start < 0 {
			return 0, dateBad
		}
		rest = rest[start:]
		in := isAlpha
		if isDigit(rest[0]) {
			in = isDigit
		}
		end := 0
		for end < len(rest) && in(rest[end]) {
			end++
		}
		parts = append(parts, rest[:end])
		if rest = rest[end:]; rest != "" {
			rest = rest[1:] // any character is a separator
			if rest == "" && end > 0 {
				break
			}
		}
	}
	before := m.mask
	numbers := parts[:0:0]
	for _, part := range parts {
		if isDigit(part[0]) {
			numbers = append(numbers, part)
			continue
		}
		word, ok := dateWords[cutWord(part)]
		if ok && word.kind == wordIgnored {
			continue
		}
		if !ok || word.kind != wordMonth || before&maskMonth != 0 || found&maskMonth != 0 {
			return 0, dateBad
		}
		m.month, m.textMonth = word.value, true
		found |= maskMonth
	}
	for _, part := range numbers {
		next, err := m.number(part, before|found)
		if err != dateOK {
			return 0, err
		}
		if (before|found)&next != 0 {
			return 0, dateBad
		}
		found |= next
	}
	if (before|found)&^(maskYearDay|maskZone) != maskDate {
		return 0, dateBad
	}
	return found, dateOK
}

func (m *moment) word(text string, after []field) (fieldMask, dateError) {
	if seconds, ok := timezone.Abbreviation(text); ok {
		m.offset, m.zone, m.abbreviation = seconds, nil, text
		return maskZone, dateOK
	}
	word, ok := dateWords[cutWord(text)]
	if !ok {
		return m.namedZone(text, dateBad)
	}
	switch word.kind {
	case wordReserved:
		return m.reserved(word.value)
	case wordMonth:
		found := maskMonth
		if m.mask&maskMonth != 0 && !m.textMonth && m.mask&maskDay == 0 && m.month >= 1 && m.month <= 31 {
			m.day, found = m.month, maskDay // the number was the day
		}
		m.month, m.textMonth = word.value, true
		return found, dateOK
	case wordWeekday:
		return maskWeekday, dateOK
	case wordHalfDay:
		m.halfDay = word.value
		return maskHalfDay, dateOK
	case wordEra:
		m.bc = word.value == eraBC
		return maskEra, dateOK
	case wordJulian:
		m.pending = wordJulian
	case wordSummer:
		m.offset += 3600
	case wordISOTime:
		known := m.mask&maskDate == maskDate || m.timeOnly
		if !known || len(after) == 0 || after[0].kind > fieldTime {
			return 0, dateBad
		}
		m.pending = wordISOTime
	}
	return 0, dateOK
}

func (m *moment) reserved(value int) (fieldMask, dateError) {
	const all = maskDate | maskTime | maskZone
	now := m.set.Now.Local(m.set.Zone)
	today, clock := now.Split()
	if m.timeOnly && value != reservedNow && value != reservedZulu {
		return 0, dateBad
	}
	switch value {
	case reservedNow:
		m.year, m.month, m.day = today.Civil()
		m.setClock(int64(clock))
		_, m.offset = m.set.Now.offset(m.set.Zone)
		return all, dateOK
	case reservedZulu:
		return maskTime | maskZone, dateOK
	case reservedEpoch:
		m.isSpecial, m.special = true, Timestamp(unixMicros)
		return all, dateOK
	case reservedEarly:
		m.isSpecial, m.special = true, TimestampNegInfinity
		return all, dateOK
	case reservedLate:
		m.isSpecial, m.special = true, TimestampInfinity
		return all, dateOK
	case reservedTomorrow:
		today++
	case reservedYesterday:
		today--
	}
	m.year, m.month, m.day = today.Civil()
	return maskDate, dateOK
}
