package selector

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kinds of tokens. Operators and keywords are kinds of their own, named as they are written,
// keywords in capitals.
const (
	tokEnd    = "the end"
	tokWord   = "a name"
	tokQuoted = "a quoted name"
	tokString = "a string"
	tokNumber = "a number"
)

// token is one word of a condition.
type token struct {
	kind    string
	at, end int    // byte positions
	text    string // of a word as written; of a string or quoted name, its contents
	prefix  string // of a quoted name: the part in front, for example "headers."
	num     number
}

// keywords are reserved words in any case.
var keywords = map[string]bool{
	"AND": true, "OR": true, "NOT": true, "BETWEEN": true, "IN": true, "LIKE": true, "ESCAPE": true, "IS": true, "NULL": true, "TRUE": true,
	"FALSE": true,
}

var operators = []string{"<>", "!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "(", ")", ","}

// next reads the next token. After a failure it only returns the end.
func (p *parser) next() {
	rest := p.text[p.tok.end:]
	start := p.tok.end + len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
	p.tok = token{kind: tokEnd, at: start, end: start}
	rest = p.text[start:]
	if p.err != nil || rest == "" {
		return
	}
	c, _ := utf8.DecodeRuneInString(rest)
	switch {
	case c == '\'':
		p.tok.kind, p.tok.text = tokString, p.quoted(start)
	case c == '"':
		p.tok.kind, p.tok.text = tokQuoted, p.quoted(start)
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		p.number(rest)
	case wordStart(c):
		p.word(rest)
	default:
		p.operator(rest, c)
	}
}

func (p *parser) operator(rest string, c rune) {
	for _, o := range operators {
		if strings.HasPrefix(rest, o) {
			p.tok.kind, p.tok.end = o, p.tok.at+len(o)
			return
		}
	}
	p.fail(p.tok.at, "unexpected character "+quote(string(c)))
}

// quoted reads a quoted text that begins at start. Two quotes inside stand for one. The token ends
// behind the closing quote.
func (p *parser) quoted(start int) string {
	q := p.text[start : start+1]
	var s strings.Builder
	for i := start + 1; ; {
		n := strings.Index(p.text[i:], q)
		if n < 0 {
			p.fail(start, "this quote is never closed")
			return ""
		}
		s.WriteString(p.text[i : i+n])
		i += n + 1
		if !strings.HasPrefix(p.text[i:], q) {
			p.tok.end = i
			return s.String()
		}
		s.WriteString(q)
		i++
	}
}

// upper returns an ASCII word in capitals. It does not change other words, because some non-ASCII
// letters have ASCII capitals, which would change the length.
func upper(word string) string {
	if u := strings.ToUpper(word); len(u) == len(word) {
		return u
	}
	return word
}

func wordStart(c rune) bool { return c == '_' || c == '$' || unicode.IsLetter(c) }

func wordPart(c rune) bool { return wordStart(c) || c == '.' || unicode.IsDigit(c) }

// word reads a keyword or a name. Dots belong to names; after a dot a quote may follow.
func (p *parser) word(rest string) {
	n := strings.IndexFunc(rest, func(c rune) bool { return !wordPart(c) })
	if n < 0 {
		n = len(rest)
	}
	word := rest[:n]
	p.tok.end = p.tok.at + n
	if !strings.HasSuffix(word, ".") {
		p.tok.kind, p.tok.text = tokWord, word
		if k := upper(word); keywords[k] {
			p.tok.kind = k
		}
		return
	}
	if !strings.HasPrefix(rest[n:], `"`) {
		p.fail(p.tok.end, "expected a name after the dot")
		return
	}
	p.tok.kind, p.tok.prefix = tokQuoted, word
	p.tok.text = p.quoted(p.tok.end)
}

// quote formats a part of the text for an error.
func quote(s string) string {
	const most = 24
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return "'" + s + "'"
}
