package regex

import (
	"slices"
	"unicode/utf8"
)

// classEscapes are the escapes for character classes. Upper-case letters stand for the complements.
var classEscapes = map[byte]string{'d': "digit", 'w': "word", 's': "space"}

// characterEscapes are the escapes for single characters.
var characterEscapes = map[byte]rune{'a': 7, 'b': 8, 'B': '\\', 'e': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}

// escape parses an escape outside of brackets.
func (p *parser) escape() (*node, error) {
	if p.at+1 >= len(p.in) {
		return nil, errEscape
	}
	c := p.in[p.at+1]
	switch c {
	case 'A', 'Z', 'y', 'Y', 'm', 'M':
		p.at += 2
		return &node{kind: border, place: c}, nil
	}
	if s, ok := p.classEscape(); ok {
		return &node{kind: char, set: s}, nil
	}
	if number, digits := p.decimal(); digits == 1 || number > 0 && number <= len(p.groups) {
		p.at += 1 + digits
		return p.reference(number)
	}
	r, err := p.escapedChar()
	if err != nil {
		return nil, err
	}
	return p.one(r), nil
}

// classEscape parses \d and similar escapes.
func (p *parser) classEscape() (set, bool) {
	if p.at+1 >= len(p.in) {
		return nil, false
	}
	c := p.in[p.at+1]
	if name, ok := classEscapes[c|0x20]; ok {
		p.at += 2
		if s := classes[name](); c >= 'a' {
			return s, true
		} else {
			return s.not(), true
		}
	}
	return nil, false
}

// decimal parses the number after a backslash, which may refer to a group. A number that begins
// with 0 does not.
func (p *parser) decimal() (number, digits int) {
	rest := p.in[p.at+1:]
	if rest[0] == '0' {
		return 0, 0
	}
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		number = min(10*number+int(rest[digits]-'0'), 1<<20)
		digits++
	}
	return number, digits
}

// reference returns a back reference to a completed group.
func (p *parser) reference(number int) (*node, error) {
	if number > len(p.groups) || p.groups[number-1] == nil || p.inLook {
		return nil, errBackref
	}
	of := p.groups[number-1].unbound()
	return &node{kind: backref, number: number, kids: []*node{of}, min: 1, max: 1, flags: hasBackref}, nil
}

// escapedChar parses an escape for a single character.
func (p *parser) escapedChar() (rune, error) {
	p.at++
	if p.at >= len(p.in) {
		return 0, errEscape
	}
	c := p.in[p.at]
	r, single := characterEscapes[c]
	switch {
	case single:
		p.at++
		return r, nil
	case c == 'u':
		p.at++
		return p.numbered(16, 4, 4)
	case c == 'U':
		p.at++
		return p.numbered(16, 8, 8)
	case c == 'x':
		p.at++
		return p.numbered(16, 1, 255)
	case c >= '0' && c <= '7':
		return p.numbered(8, 1, 3)
	case c == 'c':
		if p.at++; p.at >= len(p.in) {
			return 0, errEscape
		}
		r, size := utf8.DecodeRuneInString(p.in[p.at:])
		p.at += size
		return r & 31, nil
	case c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return 0, errEscape
	}
	r, size := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += size
	return r, nil
}

// numbered parses a character code of least to most digits. An octal code is at most 255.
func (p *parser) numbered(base, least, most int) (rune, error) {
	value, digits := 0, 0
	for digits < most && p.at < len(p.in) {
		d := slices.Index([]byte("0123456789abcdef"), lowerHex(p.in[p.at]))
		if d < 0 || d >= base || base == 8 && value*base+d > 0xFF {
			break
		}
		value = min(value*base+d, utf8.MaxRune+1)
		p.at++
		digits++
	}
	if digits < least || value > utf8.MaxRune {
		return 0, errEscape
	}
	return rune(value), nil
}

func lowerHex(c byte) byte {
	if c >= 'A' && c <= 'F' {
		return c + 'a' - 'A'
	}
	return c
}
