package temporal

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// fieldKind is the lexical kind of a field in a date text.
type fieldKind byte

const (
	fieldNumber  fieldKind = iota
	fieldDate              // numbers, and possibly a month, separated by - / or .; or a zone name with such characters
	fieldTime              // numbers with colons
	fieldZone              // a sign and a number
	fieldWord              // letters
	fieldSpecial           // a sign and letters
)

type field struct {
	text string // lower case
	kind fieldKind
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// maxFields is more than any valid date has.
const maxFields = 25

// scanFields splits the text of a date or an interval like PostgreSQL's ParseDateTime. ok is false
// for invalid text.
func scanFields(s string) (fields []field, ok bool) {
	s = strings.ToLower(s)
	for at := 0; at < len(s); {
		c := s[at]
		if strings.IndexByte(pgtext.Spaces, c) >= 0 {
			at++
			continue
		}
		if len(fields) == maxFields {
			return nil, false
		}
		sc := fieldScanner{s: s, start: at, at: at}
		var f field
		switch {
		case isDigit(c):
			f = sc.number()
		case c == '.':
			sc.at++
			sc.digits()
			f = sc.field(fieldNumber)
		case isAlpha(c):
			f = sc.word()
		case c == '+' || c == '-':
			if f, ok = sc.signed(); !ok {
				return nil, false
			}
		case c > ' ' && c < 0x7f:
			at++ // other punctuation is a separator
			continue
		default:
			return nil, false
		}
		fields = append(fields, f)
		at = sc.at
	}
	return fields, true
}

// isoUnits stand before numbers in PostgreSQL's ISO input (y2001m02d04), which is not supported: no
// name of a zone begins with them.
var isoUnits = []string{"d", "h", "m", "mm", "s", "y"}

type fieldScanner struct {
	s         string
	start, at int
}

func (sc *fieldScanner) peek() byte {
	if sc.at < len(sc.s) {
		return sc.s[sc.at]
	}
	return 0
}

func (sc *fieldScanner) while(in func(byte) bool) {
	for sc.at < len(sc.s) && in(sc.s[sc.at]) {
		sc.at++
	}
}

func (sc *fieldScanner) digits() { sc.while(isDigit) }

func (sc *fieldScanner) field(kind fieldKind) field { return field{sc.s[sc.start:sc.at], kind} }

func (sc *fieldScanner) number() field {
	sc.digits()
	delim := sc.peek()
	switch delim {
	case ':':
		sc.while(func(c byte) bool { return isDigit(c) || c == ':' || c == '.' })
		return sc.field(fieldTime)
	case '-', '/', '.':
	default:
		return sc.field(fieldNumber)
	}
	sc.at++
	if !isDigit(sc.peek()) {
		sc.while(func(c byte) bool { return isDigit(c) || isAlpha(c) || c == delim })
		return sc.field(fieldDate)
	}
	kind := fieldDate
	if delim == '.' {
		kind = fieldNumber
	}
	sc.digits()
	if sc.peek() == delim {
		kind = fieldDate
		sc.while(func(c byte) bool { return isDigit(c) || c == delim })
	}
	return sc.field(kind)
}

func (sc *fieldScanner) word() field {
	sc.while(isAlpha)
	isDate := false
	switch c := sc.peek(); {
	case c == '-' || c == '/' || c == '.':
		isDate = true
	case c == '+' || isDigit(c):
		word := sc.s[sc.start:sc.at]
		_, known := dateWords[cutWord(word)]
		isDate = !known && !slices.Contains(isoUnits, word)
	}
	if !isDate {
		return sc.field(fieldWord)
	}
	sc.while(func(c byte) bool { return isDigit(c) || isAlpha(c) || strings.IndexByte("+-/_.:", c) >= 0 })
	return sc.field(fieldDate)
}

func (sc *fieldScanner) signed() (field, bool) {
	sign := sc.s[sc.at : sc.at+1]
	sc.at++
	sc.while(func(c byte) bool { return strings.IndexByte(pgtext.Spaces, c) >= 0 })
	sc.start = sc.at
	kind := fieldZone
	switch c := sc.peek(); {
	case isDigit(c):
		sc.while(func(c byte) bool { return isDigit(c) || c == ':' || c == '.' || c == '-' })
	case c != 0 && isAlpha(c):
		sc.while(isAlpha)
		kind = fieldSpecial
	default:
		return field{}, false
	}
	f := sc.field(kind)
	f.text = sign + f.text
	return f, true
}
