package hstore

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError is the error of Parse for invalid text, in PostgreSQL's words.
type SyntaxError struct{ Message string }

func (e *SyntaxError) Error() string { return e.Message }

var errEnd = &SyntaxError{"Unexpected end of string"}

// Parse parses the text form. The map's strings may share memory with s.
func Parse(s string) (Map, error) {
	p := parser{text: s}
	pairs := make([]Pair, 0, strings.Count(s, "=>"))
	for {
		key, _, ok, err := p.word(true)
		if err != nil {
			return nil, err
		}
		if !ok {
			return New(pairs), nil
		}
		if err := p.arrow(); err != nil {
			return nil, err
		}
		value, quoted, ok, err := p.word(false)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errEnd
		}
		pairs = append(pairs, Pair{Key: key, Value: value, Null: !quoted && len(value) == 4 && strings.EqualFold(value, "null")})
		more, err := p.comma()
		if err != nil {
			return nil, err
		}
		if !more {
			return New(pairs), nil
		}
	}
}

// parser parses a text exactly as PostgreSQL does, even where that is odd: a value may contain =, a
// key a comma, and an unquoted word a quote.
type parser struct {
	text string
	at   int
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func (p *parser) end() bool { return p.at >= len(p.text) }

func (p *parser) skipSpace() {
	for !p.end() && isSpace(p.text[p.at]) {
		p.at++
	}
}

func (p *parser) errHere() error {
	_, size := utf8.DecodeRuneInString(p.text[p.at:])
	return &SyntaxError{fmt.Sprintf("Syntax error near \"%s\" at position %d", p.text[p.at:p.at+size], p.at)}
}

// word reads a key or a value; ok is false at the end of the text.
func (p *parser) word(isKey bool) (word string, quoted, ok bool, err error) {
	p.skipSpace()
	switch {
	case p.end():
		return "", false, false, nil
	case p.text[p.at] == '"':
		p.at++
		word, err = p.quoted()
		return word, true, true, err
	case isKey && p.text[p.at] == '=':
		return "", false, false, p.errHere()
	}
	stop := byte(',')
	if isKey {
		stop = '='
	}
	word, err = p.plain(stop)
	return word, false, true, err
}

// quoted reads up to and including the closing quote.
func (p *parser) quoted() (string, error) {
	start := p.at
	for ; !p.end(); p.at++ {
		switch p.text[p.at] {
		case '"':
			word := p.text[start:p.at]
			p.at++
			return word, nil
		case '\\':
			return p.unescape(start, func(c byte) bool { return c == '"' }, true)
		}
	}
	return "", errEnd
}

// plain reads a word without quotes. Its first character belongs to it whatever it is, unless it is
// a backslash.
func (p *parser) plain(stop byte) (string, error) {
	start := p.at
	ends := func(c byte) bool { return c == stop || isSpace(c) }
	if p.text[p.at] != '\\' {
		p.at++
	}
	for ; !p.end() && !ends(p.text[p.at]); p.at++ {
		if p.text[p.at] == '\\' {
			return p.unescape(start, ends, false)
		}
	}
	return p.text[start:p.at], nil
}

// unescape continues at a backslash in a word that began at start.
func (p *parser) unescape(start int, ends func(byte) bool, quoted bool) (string, error) {
	var word strings.Builder
	word.WriteString(p.text[start:p.at])
	for ; !p.end(); p.at++ {
		c := p.text[p.at]
		if ends(c) {
			if quoted {
				p.at++
			}
			return word.String(), nil
		}
		if c == '\\' {
			if p.at++; p.end() {
				return "", errEnd
			}
			c = p.text[p.at]
		}
		word.WriteByte(c)
	}
	if quoted {
		return "", errEnd
	}
	return word.String(), nil
}

func (p *parser) arrow() error {
	p.skipSpace()
	for _, c := range []byte("=>") {
		if p.end() {
			return errEnd
		}
		if p.text[p.at] != c {
			return p.errHere()
		}
		p.at++
	}
	return nil
}

// comma reads the separator of two pairs; more is false at the end.
func (p *parser) comma() (more bool, err error) {
	p.skipSpace()
	if p.end() {
		return false, nil
	}
	if p.text[p.at] != ',' {
		return false, p.errHere()
	}
	p.at++
	return true, nil
}

// Append appends the text form as PostgreSQL prints it.
func (m Map) Append(dst []byte) []byte {
	for i, p := range m {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendQuoted(dst, p.Key)
		dst = append(dst, "=>"...)
		if p.Null {
			dst = append(dst, "NULL"...)
		} else {
			dst = appendQuoted(dst, p.Value)
		}
	}
	return dst
}

func (m Map) String() string { return string(m.Append(nil)) }

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(append(dst, s[:i]...), '\\', s[i])
			s, i = s[i+1:], -1
		}
	}
	return append(append(dst, s...), '"')
}
