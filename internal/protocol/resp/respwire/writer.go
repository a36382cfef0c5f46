package respwire

import (
	"math"
	"strconv"
	"strings"
)

// Writer appends replies to a buffer. The zero value writes RESP2.
type Writer struct {
	Buf   []byte
	RESP3 bool // the client asked for protocol version 3
}

// line adds a line with a type byte and a number.
func (w *Writer) line(kind byte, n int64) {
	if n >= 0 && n < 10 {
		w.Buf = append(w.Buf, kind, '0'+byte(n), '\r', '\n')
		return
	}
	w.Buf = append(w.Buf, kind)
	w.Buf = strconv.AppendInt(w.Buf, n, 10)
	w.Buf = append(w.Buf, '\r', '\n')
}

// OK adds the reply of a command that returns nothing else.
func (w *Writer) OK() { w.Buf = append(w.Buf, "+OK\r\n"...) }

// Simple adds a status, which must be a single line.
func (w *Writer) Simple(status string) {
	w.Buf = append(w.Buf, '+')
	w.Buf = append(w.Buf, status...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// newlines replaces line ends in errors, which would end the error.
var newlines = strings.NewReplacer("\r", " ", "\n", " ")

// Error adds an error. The text begins with its code.
func (w *Writer) Error(text string) {
	w.Buf = append(w.Buf, '-')
	w.Buf = append(w.Buf, newlines.Replace(text)...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// Int adds an integer.
func (w *Writer) Int(n int64) { w.line(':', n) }

// Bulk adds a string of arbitrary bytes.
func (w *Writer) Bulk(b []byte) {
	w.line('$', int64(len(b)))
	w.Buf = append(w.Buf, b...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// BulkString is Bulk for a string.
func (w *Writer) BulkString(s string) {
	w.line('$', int64(len(s)))
	w.Buf = append(w.Buf, s...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// Null adds a missing value in place of a string.
func (w *Writer) Null() {
	if w.RESP3 {
		w.Buf = append(w.Buf, "_\r\n"...)
		return
	}
	w.Buf = append(w.Buf, "$-1\r\n"...)
}

// NullArray adds a missing value in place of an array.
func (w *Writer) NullArray() {
	if w.RESP3 {
		w.Buf = append(w.Buf, "_\r\n"...)
		return
	}
	w.Buf = append(w.Buf, "*-1\r\n"...)
}

// Array begins an array of n members, which follow.
func (w *Writer) Array(n int) { w.line('*', int64(n)) }

// Map begins a map of n keys, which follow, each with its value behind it. In RESP2 it is an array.
func (w *Writer) Map(n int) {
	if w.RESP3 {
		w.line('%', int64(n))
		return
	}
	w.line('*', 2*int64(n))
}

// Field adds a key of a map and its integer value.
func (w *Writer) Field(name string, n int64) {
	w.BulkString(name)
	w.Int(n)
}

// TextField adds a key of a map and its text.
func (w *Writer) TextField(name, text string) {
	w.BulkString(name)
	w.BulkString(text)
}

// Strings adds an array of strings.
func (w *Writer) Strings(all []string) {
	w.Array(len(all))
	for _, s := range all {
		w.BulkString(s)
	}
}

// Set begins a set of n members, which follow. In RESP2 it is an array.
func (w *Writer) Set(n int) {
	if w.RESP3 {
		w.line('~', int64(n))
		return
	}
	w.Array(n)
}

// Push begins an unsolicited message of n members, which follow. In RESP2 it is an array.
func (w *Writer) Push(n int) {
	if w.RESP3 {
		w.line('>', int64(n))
		return
	}
	w.Array(n)
}

// Bool adds a boolean, in RESP2 the integer 1 or 0.
func (w *Writer) Bool(b bool) {
	switch {
	case w.RESP3 && b:
		w.Buf = append(w.Buf, "#t\r\n"...)
	case w.RESP3:
		w.Buf = append(w.Buf, "#f\r\n"...)
	case b:
		w.Int(1)
	default:
		w.Int(0)
	}
}

// Double adds a floating-point number, in RESP2 as a string.
func (w *Writer) Double(f float64) {
	var text [32]byte
	b := strconv.AppendFloat(text[:0], f, 'g', 17, 64)
	switch {
	case math.IsInf(f, 1):
		b = append(text[:0], "inf"...)
	case math.IsInf(f, -1):
		b = append(text[:0], "-inf"...)
	case math.IsNaN(f):
		b = append(text[:0], "nan"...)
	}
	if !w.RESP3 {
		w.Bulk(b)
		return
	}
	w.Buf = append(w.Buf, ',')
	w.Buf = append(w.Buf, b...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// Verbatim adds a text for people.
func (w *Writer) Verbatim(text string) {
	if !w.RESP3 {
		w.BulkString(text)
		return
	}
	w.line('=', int64(len(text)+4))
	w.Buf = append(w.Buf, "txt:"...)
	w.Buf = append(w.Buf, text...)
	w.Buf = append(w.Buf, '\r', '\n')
}
