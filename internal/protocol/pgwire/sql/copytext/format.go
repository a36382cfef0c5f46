package copytext

import "strings"

// Format holds the COPY options for the data format.
type Format struct {
	CSV           bool
	Delimiter     byte
	Quote, Escape byte   // for CSV
	Null          string // represents NULL
}

// AppendNull appends NULL to a line.
func (f *Format) AppendNull(dst []byte) []byte { return append(dst, f.Null...) }

// Append appends a field to a line. quote forces quotes. alone means that the line has no other
// field. Both apply to CSV only.
func (f *Format) Append(dst []byte, field string, quote, alone bool) []byte {
	if f.CSV {
		return f.appendCSV(dst, field, quote, alone)
	}
	for i := range len(field) {
		c := field[i]
		switch {
		case c < ' ' && strings.IndexByte(plainControls, c) >= 0:
			dst = append(dst, '\\', controlLetters[strings.IndexByte(plainControls, c)])
		case c == '\\' || c == f.Delimiter:
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Control characters that have an escape letter, and the letters.
const (
	plainControls  = "\b\f\n\r\t\v"
	controlLetters = "bfnrtv"
)

func (f *Format) appendCSV(dst []byte, field string, quote, alone bool) []byte {
	if !quote && !f.needsQuotes(field, alone) {
		return append(dst, field...)
	}
	dst = append(dst, f.Quote)
	for i := range len(field) {
		if c := field[i]; c == f.Quote || c == f.Escape {
			dst = append(dst, f.Escape)
		}
		dst = append(dst, field[i])
	}
	return append(dst, f.Quote)
}

// needsQuotes reports whether a field would be misread without quotes.
func (f *Format) needsQuotes(field string, alone bool) bool {
	if field == f.Null || alone && field == `\.` {
		return true
	}
	for i := range len(field) {
		if c := field[i]; c == f.Delimiter || c == f.Quote || c == '\n' || c == '\r' {
			return true
		}
	}
	return false
}
