package regex

import (
	"strings"
	"unicode/utf8"
)

// bracket parses a bracket expression, or a word boundary in bracket notation.
func (p *parser) bracket() (*node, error) {
	for text, place := range map[string]byte{"[[:<:]]": 'm', "[[:>:]]": 'M'} {
		if strings.HasPrefix(p.in[p.at:], text) {
			p.at += len(text)
			return &node{kind: border, place: place}, nil
		}
	}
	p.at++
	denied := p.at < len(p.in) && p.in[p.at] == '^'
	if denied {
		p.at++
	}
	var spans []span
	for first := true; ; first = false {
		if p.at >= len(p.in) {
			return nil, errBrackets
		}
		if p.in[p.at] == ']' && !first {
			p.at++
			break
		}
		more, err := p.bracketItem(first)
		if err != nil {
			return nil, err
		}
		spans = append(spans, more...)
	}
	s := union(spans)
	if denied {
		s = p.without(s)
	}
	return &node{kind: char, set: s}, nil
}

// bracketItem parses a class, a range or a character between brackets.
func (p *parser) bracketItem(first bool) ([]span, error) {
	rest := p.in[p.at:]
	if strings.HasPrefix(rest, "[:") {
		return p.namedClass()
	}
	if rest[0] == '\\' {
		if s, ok := p.classEscape(); ok {
			return s, nil
		}
	}
	if rest[0] == '-' && !first && !strings.HasPrefix(rest, "-]") {
		return nil, errRange
	}
	low, err := p.bracketChar()
	if err != nil {
		return nil, err
	}
	one := span{low, low}
	if rest := p.in[p.at:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
		p.at++
		if one.hi, err = p.bracketChar(); err != nil {
			return nil, err
		}
		if one.hi < low {
			return nil, errRange
		}
	}
	switch {
	case !p.fold:
		return []span{one}, nil
	case one.lo == one.hi:
		return bothCases(low), nil
	}
	return folded(one), nil
}

func (p *parser) namedClass() ([]span, error) {
	name, _, ok := strings.Cut(p.in[p.at+2:], ":]")
	if !ok {
		return nil, errBrackets
	}
	p.at += len(name) + 4
	if p.fold && (name == "lower" || name == "upper") {
		name = "alpha"
	}
	members, ok := classes[name]
	if !ok {
		return nil, errClass
	}
	return append([]span(nil), members()...), nil
}

// bracketChar parses one end of a range: a character, an escape, or a collating element of one
// character.
func (p *parser) bracketChar() (rune, error) {
	rest := p.in[p.at:]
	if strings.HasPrefix(rest, `\`) {
		return p.escapedChar()
	}
	for _, open := range []string{"[.", "[="} {
		if strings.HasPrefix(rest, open) {
			inner, _, ok := strings.Cut(rest[2:], open[1:]+"]")
			if !ok || utf8.RuneCountInString(inner) != 1 {
				return 0, errCollating
			}
			p.at += len(inner) + 4
			r, _ := utf8.DecodeRuneInString(inner)
			return r, nil
		}
	}
	if strings.HasPrefix(rest, "[:") {
		return 0, errRange
	}
	r, size := utf8.DecodeRuneInString(rest)
	p.at += size
	return r, nil
}
