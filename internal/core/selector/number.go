package selector

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number is a literal without its sign.
type number struct {
	isFloat bool
	float   float64
	whole   uint64 // at most 1<<63, which fits only with a minus sign
}

// value applies the sign to the literal; ok is false if the result does not fit in an int64.
func (n number) value(negative bool) (v value, ok bool) {
	switch {
	case n.isFloat && negative:
		return floatValue(-n.float, null), true
	case n.isFloat:
		return floatValue(n.float, null), true
	case negative:
		return intValue(-int64(n.whole)), true
	}
	return intValue(int64(n.whole)), n.whole <= math.MaxInt64
}

// number reads 12, 12L, 0x1F, 1.5, .5, 1., 1e3, 1.5E-3, 2D and 2F. A leading zero has no meaning.
func (p *parser) number(rest string) {
	n := numberEnd(rest)
	p.tok.kind, p.tok.end = tokNumber, p.tok.at+n
	digits, base := rest[:n], 10
	if isHex(digits) {
		digits, base = digits[2:], 16
	}
	if c, _ := utf8.DecodeRuneInString(rest[n:]); wordPart(c) {
		p.fail(p.tok.end, "unexpected "+quote(string(c))+" in a number")
		return
	}
	var err error
	switch last := digits[len(digits)-1] | 0x20; {
	case last == 'l':
		digits = digits[:len(digits)-1]
		p.tok.num.whole, err = strconv.ParseUint(digits, base, 64)
	case base == 16 || !strings.ContainsAny(digits, ".eEdDfF"):
		p.tok.num.whole, err = strconv.ParseUint(digits, base, 64)
	default:
		p.tok.num.isFloat = true
		p.tok.num.float, err = strconv.ParseFloat(strings.TrimRight(digits, "dDfF"), 64)
	}
	if err != nil || p.tok.num.whole > 1<<63 {
		p.fail(p.tok.at, "expected a number of 64 bits, got "+quote(rest[:n]))
	}
}

func isHex(s string) bool { return len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' }

// numberEnd returns the length of the number at the beginning of s.
func numberEnd(s string) int {
	count := func(i int, set string) int {
		for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
			i++
		}
		return i
	}
	suffix := func(i int, set string) int {
		if i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
			return i + 1
		}
		return i
	}
	const decimal, hex = "0123456789", "0123456789abcdefABCDEF"
	if isHex(s) && count(2, hex) > 2 {
		return suffix(count(2, hex), "lL")
	}
	i := count(0, decimal)
	whole := i
	if i < len(s) && s[i] == '.' {
		i = count(i+1, decimal)
	}
	if exp := suffix(i, "eE"); exp > i {
		if end := count(suffix(exp, "+-"), decimal); end > suffix(exp, "+-") {
			i = end
		}
	}
	if i == whole && suffix(i, "lL") > i {
		return i + 1
	}
	return suffix(i, "dDfF")
}
