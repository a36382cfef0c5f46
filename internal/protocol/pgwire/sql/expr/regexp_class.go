package expr

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"fiveways/internal/protocol/pgwire/pgerror"
)

// The escapes that stand for sets of characters, outside and inside of brackets.
var classEscapes = map[byte]string{'d': `0-9`, 'w': `0-9A-Za-z_`, 's': ` \t-\r`}

// characterEscapes stand for one character.
var characterEscapes = map[byte]rune{
	'a': 7, 'b': 8, 'B': '\\', 'e': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, '0': 0,
}

// escape is a backslash and what follows it, outside of brackets.
func (t *translator) escape() error {
	if t.at+1 >= len(t.in) {
		return errPattern("invalid escape \\ sequence")
	}
	c := t.in[t.at+1]
	if set, ok := classEscapes[c]; ok {
		t.out.WriteString("[" + set + "]")
		t.at += 2
		return nil
	}
	if set, ok := classEscapes[c+'a'-'A']; ok && isUpper(c) {
		t.out.WriteString("[^" + set + "]")
		t.at += 2
		return nil
	}
	if at, ok := map[byte]string{'A': `\A`, 'Z': `\z`, 'y': `\b`, 'Y': `\B`}[c]; ok {
		t.out.WriteString(at)
		t.at += 2
		return nil
	}
	switch {
	case c == 'm' || c == 'M':
		return pgerror.New(pgerror.FeatureNotSupported, "\\m and \\M in regular expressions are not supported")
	case c >= '1' && c <= '9':
		return pgerror.New(pgerror.FeatureNotSupported, "back references in regular expressions are not supported")
	}
	r, err := t.escapedChar()
	if err != nil {
		return err
	}
	t.put(r)
	return nil
}

// escapedChar reads an escape that stands for one character.
func (t *translator) escapedChar() (rune, error) {
	t.at++
	if t.at >= len(t.in) {
		return 0, errPattern("invalid escape \\ sequence")
	}
	c := t.in[t.at]
	digits := map[byte]int{'u': 4, 'U': 8, 'x': 2}[c]
	switch r, ok := characterEscapes[c]; {
	case digits > 0:
		if t.at+1+digits > len(t.in) {
			return 0, errPattern("invalid escape \\ sequence")
		}
		n, err := strconv.ParseUint(t.in[t.at+1:t.at+1+digits], 16, 32)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return 0, errPattern("invalid escape \\ sequence")
		}
		t.at += 1 + digits
		return rune(n), nil
	case ok:
		t.at++
		return r, nil
	case isAlnum(c):
		return 0, errPattern("invalid escape \\ sequence")
	}
	r, size := utf8.DecodeRuneInString(t.in[t.at:])
	t.at += size
	return r, nil
}

// bracket is a bracket expression.
func (t *translator) bracket() error {
	t.at++
	var b strings.Builder
	b.WriteByte('[')
	if t.at < len(t.in) && t.in[t.at] == '^' {
		b.WriteByte('^')
		if t.noNewline {
			b.WriteString(`\n`)
		}
		t.at++
	}
	for first := true; ; first = false {
		if t.at >= len(t.in) {
			return errPattern("brackets [] not balanced")
		}
		if t.in[t.at] == ']' && !first {
			t.at++
			t.out.WriteString(b.String() + "]")
			return nil
		}
		if err := t.bracketItem(&b); err != nil {
			return err
		}
	}
}

// bracketItem is a class, a range or a character between brackets.
func (t *translator) bracketItem(b *strings.Builder) error {
	rest := t.in[t.at:]
	if strings.HasPrefix(rest, "[:") {
		name, _, ok := strings.Cut(rest[2:], ":]")
		if !ok {
			return errPattern("brackets [] not balanced")
		}
		if !strings.Contains(" alnum alpha blank cntrl digit graph lower print punct space upper xdigit word ", " "+name+" ") {
			return errPattern("invalid character class")
		}
		if t.fold && (name == "lower" || name == "upper") {
			name = "alpha"
		}
		b.WriteString("[:" + name + ":]")
		t.at += len(name) + 4
		return nil
	}
	if strings.HasPrefix(rest, "[.") || strings.HasPrefix(rest, "[=") {
		return errPattern("invalid collating element")
	}
	if rest[0] == '\\' && len(rest) > 1 {
		if set, ok := classEscapes[rest[1]]; ok {
			b.WriteString(set)
			t.at += 2
			return nil
		}
	}
	low, err := t.bracketChar()
	if err != nil {
		return err
	}
	high := low
	if rest := t.in[t.at:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
		t.at++
		if high, err = t.bracketChar(); err != nil {
			return err
		}
		if high < low {
			return errPattern("invalid character range")
		}
	}
	t.writeRange(b, low, high)
	return nil
}

func (t *translator) bracketChar() (rune, error) {
	if t.at < len(t.in) && t.in[t.at] == '\\' {
		return t.escapedChar()
	}
	r, size := utf8.DecodeRuneInString(t.in[t.at:])
	t.at += size
	return r, nil
}

// writeRange writes a range, with the letters of the other case when it matters not.
func (t *translator) writeRange(b *strings.Builder, low, high rune) {
	quote := func(low, high rune) {
		b.WriteString(quoteInBracket(low))
		if high > low {
			b.WriteString("-" + quoteInBracket(high))
		}
	}
	quote(low, high)
	if !t.fold {
		return
	}
	if l, h := max(low, 'a'), min(high, 'z'); l <= h {
		quote(l-'a'+'A', h-'a'+'A')
	}
	if l, h := max(low, 'A'), min(high, 'Z'); l <= h {
		quote(l-'A'+'a', h-'A'+'a')
	}
}

func quoteInBracket(r rune) string {
	if r == '-' || r == '^' || r == ']' || r == '[' || r == '\\' {
		return `\` + string(r)
	}
	return regexp.QuoteMeta(string(r))
}
