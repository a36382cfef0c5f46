package copytext

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

var (
	text = Format{Delimiter: '\t', Null: `\N`}
	csv  = Format{CSV: true, Delimiter: ',', Quote: '"', Escape: '"'}
	odd  = Format{CSV: true, Delimiter: '|', Quote: '\'', Escape: '\\', Null: "nil"}
)

// read splits texts, fed one after the other, into rows.
func read(f *Format, pieces ...string) (rows [][]Field, line int, err error) {
	l := &Lines{Format: f}
	for {
		text, ok, err := l.Next()
		switch {
		case err != nil:
			return rows, l.Number, err
		case ok:
			row, err := f.Fields(nil, text)
			if err != nil {
				return rows, l.Number, err
			}
			rows = append(rows, row)
		case l.Ended():
			return rows, l.Number, nil
		case len(pieces) > 0:
			l.Feed([]byte(pieces[0]))
			pieces = pieces[1:]
		default:
			l.End()
		}
	}
}

// FuzzRoundTrip: written data can be read again, in pieces of any size.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"", "a", `\.`, "a\tb\\\n\r\x01", `"'|,`, `\N`, "nil", "\xff", `x"`} {
		f.Add(s, s+"z", uint8(3), byte('|'))
	}
	f.Fuzz(func(t *testing.T, a, b string, cut uint8, delimiter byte) {
		for _, format := range []Format{text, csv, odd, {Delimiter: delimiter, Null: `\N`}} {
			if strings.ContainsRune("\r\n\\.abcdefghijklmnopqrstuvwxyz0123456789\x00", rune(format.Delimiter)) || format.Delimiter >= 0x80 {
				continue
			}
			if format.CSV && (a == `\.` || b == `\.`) {
				continue // PostgreSQL's output is ambiguous here
			}
			line := format.Append(nil, a, false, false)
			line = format.AppendNull(append(line, format.Delimiter))
			line = append(format.Append(append(line, format.Delimiter), b, true, false), '\n')
			whole := string(line) + string(line)
			at := min(int(cut), len(whole))
			got, _, err := read(&format, whole[:at], whole[at:])
			row := []Field{{Text: a}, {Text: format.Null, Null: true}, {Text: b}}
			if err != nil || !slices.EqualFunc(got, [][]Field{row, row}, slices.Equal) {
				t.Fatalf("%q, %q as %q: %v, %v", a, b, whole, got, err)
			}
		}
	})
}

// FuzzPieces: the result does not depend on how the input is split into pieces, and every failure
// is an error.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{"a\r\nb\r\n", "a\\\nb\n\\.\nrest", "\\.", "a\rb\n", "\"a\r\n\"\r\n\\.x\r\n", "\\.\r\n", "'\\'\n'\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range []Format{text, csv, odd} {
			rows, line, err := read(&format, s)
			apart, lineApart, errApart := read(&format, strings.Split(s, "")...)
			if !slices.EqualFunc(rows, apart, slices.Equal) || line != lineApart || errorText(err) != errorText(errApart) {
				t.Fatalf("%q: %v, line %d, %v; in pieces %v, line %d, %v", s, rows, line, err, apart, lineApart, errApart)
			}
		}
	})
}

func errorText(err error) string {
	var e *pgerror.Error
	if errors.As(err, &e) {
		return e.Code + e.Message + e.Hint
	}
	return ""
}

// TestLimit: a line without an end is limited.
func TestLimit(t *testing.T) {
	l := &Lines{Format: &text, Limit: 10}
	l.Feed([]byte("0123456789\n0123456789a"))
	if line, ok, err := l.Next(); line != "0123456789" || !ok || err != nil {
		t.Fatalf("%q, %v, %v", line, ok, err)
	}
	_, _, err := l.Next()
	var e *pgerror.Error
	if !errors.As(err, &e) || e.Code != pgerror.ProgramLimitExceeded {
		t.Errorf("error %v", err)
	}
}
