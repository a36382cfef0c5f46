package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// parseBool accepts true, false, yes, no, on, off, their unambiguous prefixes, and 1 and 0.
func parseBool(s string) (Datum, error) {
	word := strings.ToLower(strings.Trim(s, pgtext.Spaces))
	switch {
	case word == "1" || word == "on" || isStart(word, "true") || isStart(word, "yes"):
		return true, nil
	case word == "0" || word == "of" || word == "off" || isStart(word, "false") || isStart(word, "no"):
		return false, nil
	}
	return nil, badText(Bool, s)
}

func isStart(s, of string) bool { return s != "" && strings.HasPrefix(of, s) }

func FitsInt(t *Type, i int64) bool {
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

// parseInt parses an integer. A range error takes precedence over garbage after the digits.
func parseInt(t *Type, s string) (int64, error) {
	text := strings.Trim(s, pgtext.Spaces)
	digits := text
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	rest := strings.TrimLeft(digits, "0123456789")
	i, err := strconv.ParseInt(text[:len(text)-len(rest)], 10, 64)
	switch {
	case len(rest) == len(digits):
		return 0, badText(t, s)
	case err != nil || !FitsInt(t, i):
		return 0, textOutOfRange(t, s)
	case rest != "":
		return 0, badText(t, s)
	}
	return i, nil
}

// parseOID parses an unsigned number. Negative numbers wrap around.
func parseOID(t *Type, s string) (int64, error) {
	text := strings.Trim(s, pgtext.Spaces)
	if !pgtext.AllDigits(strings.TrimLeft(text, "+-")) || strings.LastIndexAny(text, "+-") > 0 {
		return 0, badText(t, s)
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || i > math.MaxUint32 || i < math.MinInt32 {
		return 0, textOutOfRange(t, s)
	}
	return int64(uint32(i)), nil
}

func parseFloat(t *Type, s string) (float64, error) {
	text := strings.Trim(s, pgtext.Spaces)
	bits := 64
	if t == Float4 {
		bits = 32
	}
	number := text
	if hex := strings.ToLower(text); strings.HasPrefix(strings.TrimLeft(hex, "+-"), "0x") && !strings.Contains(hex, "p") {
		number += "p0" // strtod does not require an exponent here, Go does
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

// appendFloat appends f in PostgreSQL's format. If extra is above 0, it has the fewest digits that
// read back as f, otherwise 15 + extra digits (6 + extra for real).
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
		return strconv.AppendFloat(dst, f, 'g', max(digits+extra, 1), bits)
	}
	text := strconv.AppendFloat(nil, f, 'e', -1, bits)
	if math.Abs(f) >= integersOnly(bits) && isBetween(string(text), f, bits) {
		text = insideDigits(f, bits, len(text))
	}
	exponent, _ := strconv.Atoi(string(text[strings.IndexByte(string(text), 'e')+1:]))
	if exponent < -4 || exponent >= digits {
		return append(dst, text...)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

// integersOnly returns the magnitude from which the shortest decimal may be exactly halfway between
// two floats.
func integersOnly(bits int) float64 {
	if bits == 32 {
		return 1 << 22
	}
	return 1 << 51
}

// isBetween reports whether a decimal is exactly halfway between f and an adjacent float. It reads
// back as f if f is even, and Go accepts it as the shortest form. PostgreSQL accepts only decimals
// that are closer to f.
func isBetween(text string, f float64, bits int) bool {
	decimal, _, err := big.ParseFloat(text, 10, 2000, big.ToNearestEven)
	if err != nil {
		return false
	}
	for _, to := range []float64{math.Inf(1), math.Inf(-1)} {
		next := math.Nextafter(f, to)
		if bits == 32 {
			next = float64(math.Nextafter32(float32(f), float32(to)))
		}
		sum := new(big.Float).SetPrec(2000).Add(big.NewFloat(f), big.NewFloat(next))
		if decimal.Cmp(sum.Quo(sum, big.NewFloat(2))) == 0 {
			return true
		}
	}
	return false
}

// insideDigits formats f with the fewest digits that are not exactly halfway between two floats.
func insideDigits(f float64, bits, from int) []byte {
	const most = 17
	for digits := max(from-8, 1); digits < most; digits++ {
		text := strconv.AppendFloat(nil, f, 'e', digits, bits)
		if back, err := strconv.ParseFloat(string(text), bits); err == nil && back == f && !isBetween(string(text), f, bits) {
			return text
		}
	}
	return strconv.AppendFloat(nil, f, 'e', most-1, bits)
}

// maxNameBytes is the maximum length of a value of type name.
const maxNameBytes = 63

// cutText truncates s to at most n bytes, at a character boundary.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// parseChar keeps the first byte. \ooo is the byte with that octal value.
func parseChar(s string) string {
	if len(s) == 4 && s[0] == '\\' && isOctal(s[1]) && s[1] <= '3' && isOctal(s[2]) && isOctal(s[3]) {
		if c := (s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0'); c != 0 {
			return string([]byte{c})
		}
		return ""
	}
	if s == "" {
		return ""
	}
	return s[:1]
}

// appendChar appends a byte, as \ooo if it is not ASCII.
func appendChar(dst []byte, s string) []byte {
	if s != "" && s[0] >= utf8.RuneSelf {
		return fmt.Appendf(dst, `\%03o`, s[0])
	}
	return append(dst, s...)
}

const (
	hexDigits  = "0123456789abcdef"
	uuidLength = 36
)

// parseUUID parses 32 hexadecimal digits, with optional hyphens after groups of four and optional
// braces.
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
