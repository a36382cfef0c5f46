package value

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"fiveways/internal/protocol/pgwire/pgerror"
)

const spaces = " \t\n\v\f\r"

// parseBool takes any beginning of true, false, yes, no, on, off that means one of them, and 1 and 0.
func parseBool(s string) (Datum, error) {
	word := strings.ToLower(strings.Trim(s, spaces))
	switch {
	case word == "1" || word == "on" || isStart(word, "true") || isStart(word, "yes"):
		return true, nil
	case word == "0" || word == "of" || word == "off" || isStart(word, "false") || isStart(word, "no"):
		return false, nil
	}
	return nil, badText(Bool, s)
}

func isStart(s, of string) bool { return s != "" && strings.HasPrefix(of, s) }

func fitsInt(t *Type, i int64) bool {
	switch t {
	case Int2:
		return i == int64(int16(i))
	case Int4:
		return i == int64(int32(i))
	case Int8:
		return true
	}
	return i == int64(uint32(i))
}

func parseInt(t *Type, s string) (int64, error) {
	text := strings.Trim(s, spaces)
	if !allDigits(strings.TrimLeft(text, "+-")) || strings.LastIndexAny(text, "+-") > 0 {
		return 0, badText(t, s)
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !fitsInt(t, i) {
		return 0, textOutOfRange(t, s)
	}
	return i, nil
}

// parseOID reads an unsigned number; a negative one counts from the end.
func parseOID(t *Type, s string) (int64, error) {
	text := strings.Trim(s, spaces)
	if !allDigits(strings.TrimLeft(text, "+-")) || strings.LastIndexAny(text, "+-") > 0 {
		return 0, badText(t, s)
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || i > math.MaxUint32 || i < math.MinInt32 {
		return 0, textOutOfRange(t, s)
	}
	return int64(uint32(i)), nil
}

func parseFloat(t *Type, s string) (float64, error) {
	text := strings.Trim(s, spaces)
	bits := 64
	if t == Float4 {
		bits = 32
	}
	number := text
	if hex := strings.ToLower(text); strings.HasPrefix(strings.TrimLeft(hex, "+-"), "0x") && !strings.Contains(hex, "p") {
		number += "p0" // C reads it without, Go does not
	}
	f, err := strconv.ParseFloat(number, bits)
	switch {
	case errors.Is(err, strconv.ErrSyntax) || strings.Contains(text, "_") || strings.EqualFold(text, "infinit"):
		return 0, badText(t, s)
	case err != nil || f == 0 && strings.ContainsAny(mantissa(text), "123456789"):
		return 0, pgerror.New(pgerror.NumericOutOfRange, "\"%s\" is out of range for type %s", text, t)
	}
	return f, nil
}

func mantissa(s string) string {
	if i := strings.IndexAny(s, "eEpP"); i >= 0 {
		return s[:i]
	}
	return s
}

// appendFloat writes f as PostgreSQL does: the fewest digits that read back as f when extra_float_digits is above 0, else 15 of them (6
// for real) and that many more.
func appendFloat(dst []byte, f float64, bits, extra int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	digits := 15
	if bits == 32 {
		digits = 6
	}
	if extra <= 0 {
		return appendExponent(dst, strconv.AppendFloat(nil, f, 'g', max(digits+extra, 1), bits))
	}
	text := strconv.AppendFloat(nil, f, 'e', -1, bits)
	exponent, _ := strconv.Atoi(string(text[strings.IndexByte(string(text), 'e')+1:]))
	if exponent < -4 || exponent >= digits {
		return appendExponent(dst, text)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

// appendExponent copies a number; Go and C write exponents alike.
func appendExponent(dst, text []byte) []byte { return append(dst, text...) }

// maxNameBytes is what a value of the type name keeps.
const maxNameBytes = 63

// cutText cuts s to at most n bytes, at the end of a character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

func parseChar(s string) string {
	if s == "" {
		return ""
	}
	return s[:1]
}

const (
	hexDigits  = "0123456789abcdef"
	uuidLength = 36
)

// parseUUID reads 32 hexadecimal digits, with hyphens after any group of four and braces around if need be.
func parseUUID(s string) (Datum, error) {
	text := s
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		text = text[1 : len(text)-1]
	}
	out := make([]byte, 0, uuidLength)
	count := 0
	for i := range len(text) {
		c := text[i] | 0x20
		if text[i] == '-' {
			if count == 0 || count%4 != 0 || count == 32 || text[i-1] == '-' {
				return nil, badText(UUID, s)
			}
			continue
		}
		if strings.IndexByte(hexDigits, c) < 0 || count == 32 {
			return nil, badText(UUID, s)
		}
		if count == 8 || count == 12 || count == 16 || count == 20 {
			out = append(out, '-')
		}
		out = append(out, c)
		count++
	}
	if count != 32 {
		return nil, badText(UUID, s)
	}
	return string(out), nil
}
