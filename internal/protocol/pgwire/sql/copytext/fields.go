package copytext

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Field is a field of a line.
type Field struct {
	Text string // for NULL, the text that represented it
	Null bool
}

// BadFormat is the SQLSTATE of malformed input.
const BadFormat = "22P04"

func malformed(format string, args ...any) *pgerror.Error {
	return pgerror.New(BadFormat, format, args...)
}

// Fields splits a line, without its terminator, into fields and appends them to to. Errors: 22P04
// for an unterminated quote, 22021 for escapes that result in invalid text.
func (f *Format) Fields(to []Field, line string) ([]Field, error) {
	for {
		cut := f.textField
		if f.CSV {
			cut = f.csvField
		}
		field, rest, more, err := cut(line)
		if err != nil {
			return nil, err
		}
		to = append(to, field)
		if !more {
			return to, nil
		}
		line = rest
	}
}

// textField splits the first field off a line. more reports whether a delimiter follows.
func (f *Format) textField(line string) (field Field, rest string, more bool, err error) {
	var out []byte
	odd, escaped := false, false // numeric escapes of zero or non-ASCII bytes; any escapes
	end := 0
	for i := 0; ; {
		if end = i; i == len(line) {
			break
		}
		c := line[i]
		i++
		if c == f.Delimiter {
			more, rest = true, line[i:]
			break
		}
		if c == '\\' {
			if !escaped {
				escaped, out = true, append(make([]byte, 0, len(line)), line[:end]...)
			}
			if i == len(line) {
				break
			}
			var numeric bool
			c, i, numeric = unescape(line, i)
			odd = odd || numeric && (c == 0 || c >= 0x80)
		}
		if escaped {
			out = append(out, c)
		}
	}
	if line[:end] == f.Null {
		return Field{Text: f.Null, Null: true}, rest, more, nil
	}
	text := line[:end]
	if escaped {
		text = string(out)
	}
	if odd {
		err = charset.Valid(text)
	}
	return Field{Text: text}, rest, more, err
}

// unescape decodes the escape after a backslash. It returns the byte and the next index.
func unescape(line string, i int) (c byte, next int, numeric bool) {
	c = line[i]
	i++
	switch c {
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := int(c - '0')
		for range 2 {
			if i == len(line) || line[i] < '0' || line[i] > '7' {
				break
			}
			n = n<<3 + int(line[i]-'0')
			i++
		}
		return byte(n), i, true
	case 'x':
		n, digits := 0, 0
		for ; digits < 2 && i < len(line) && hexDigit(line[i]) >= 0; digits++ {
			n = n<<4 + hexDigit(line[i])
			i++
		}
		if digits == 0 {
			return c, i, false
		}
		return byte(n), i, true
	}
	for k := range len(controlLetters) {
		if controlLetters[k] == c {
			return plainControls[k], i, false
		}
	}
	return c, i, false
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// csvField is textField for CSV.
func (f *Format) csvField(line string) (field Field, rest string, more bool, err error) {
	var out []byte
	quoted := false // there was a quote
	end := 0
	for i := 0; ; {
		if end = i; i == len(line) {
			break
		}
		c := line[i]
		i++
		if c == f.Delimiter {
			more, rest = true, line[i:]
			break
		}
		if c != f.Quote {
			if quoted {
				out = append(out, c)
			}
			continue
		}
		if !quoted {
			quoted, out = true, append(make([]byte, 0, len(line)), line[:end]...)
		}
		if out, i, err = f.inQuotes(out, line, i); err != nil {
			return Field{}, "", false, err
		}
	}
	if !quoted {
		return Field{Text: line[:end], Null: line[:end] == f.Null}, rest, more, nil
	}
	return Field{Text: string(out)}, rest, more, nil
}

// inQuotes appends quoted text to out. i is the index after the opening quote; the result is the
// index after the closing quote.
func (f *Format) inQuotes(out []byte, line string, i int) ([]byte, int, error) {
	for i < len(line) {
		c := line[i]
		i++
		if c == f.Escape && i < len(line) && (line[i] == f.Escape || line[i] == f.Quote) {
			out = append(out, line[i])
			i++
			continue
		}
		if c == f.Quote {
			return out, i, nil
		}
		out = append(out, c)
	}
	return nil, 0, malformed("unterminated CSV quoted field")
}
