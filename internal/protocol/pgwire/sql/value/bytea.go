package value

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// parseBytea parses the hex format (\x0102) and the escape format (\001\002).
func parseBytea(s string) (Datum, error) {
	if rest, ok := strings.CutPrefix(s, `\x`); ok {
		return parseHex(rest)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		switch {
		case strings.HasPrefix(s[i:], `\\`):
			out = append(out, '\\')
			i++
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && isOctal(s[i+2]) && isOctal(s[i+3]):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			return nil, pgerror.New(pgerror.InvalidText, "invalid input syntax for type bytea")
		}
	}
	return out, nil
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

func parseHex(s string) (Datum, error) {
	digits := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if strings.IndexByte(" \n\t\r", c) >= 0 && len(digits)%2 == 0 {
			continue
		}
		if strings.IndexByte(hexDigits, c|0x20) < 0 || c < '0' {
			_, size := utf8.DecodeRuneInString(s[i:])
			return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[i:i+size])
		}
		digits = append(digits, c)
	}
	if len(digits)%2 != 0 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
	}
	out := make([]byte, len(digits)/2)
	_, err := hex.Decode(out, digits)
	return out, err
}

func appendBytea(dst, b []byte, escape bool) []byte {
	if !escape {
		return hex.AppendEncode(append(dst, `\x`...), b)
	}
	for _, c := range b {
		switch {
		case c == '\\':
			dst = append(dst, `\\`...)
		case c < ' ' || c > '~':
			dst = fmt.Appendf(dst, `\%03o`, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
