package selector

import (
	"strings"
	"unicode/utf8"
)

// piece is a part of a LIKE pattern: literal text, one character, or any characters.
type piece struct {
	kind pieceKind
	text string // for pieceText, not empty
}

type pieceKind uint8

const (
	pieceText pieceKind = iota
	pieceOne            // _
	pieceAny            // %
)

// splitPattern splits a pattern into pieces. A %, _ or escape character after escape (0: none) is
// literal; problem reports any other character there.
func splitPattern(pattern string, escape rune) (pieces []piece, problem string) {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			pieces = append(pieces, piece{pieceText, text.String()})
			text.Reset()
		}
	}
	escaped := false
	for _, c := range pattern {
		switch {
		case escaped && c != '%' && c != '_' && c != escape:
			return nil, "expected %, _ or the escape character behind an escape character"
		case escaped:
			text.WriteRune(c)
			escaped = false
		case escape != 0 && c == escape:
			escaped = true
		case c == '_':
			flush()
			pieces = append(pieces, piece{kind: pieceOne})
		case c == '%':
			flush()
			if len(pieces) == 0 || pieces[len(pieces)-1].kind != pieceAny {
				pieces = append(pieces, piece{kind: pieceAny})
			}
		default:
			text.WriteRune(c)
		}
	}
	if escaped {
		return nil, "the pattern ends with an escape character"
	}
	flush()
	return pieces, ""
}

// like reports whether s matches a pattern. After a mismatch it goes back only to the last %,
// because the earlier ones need not match more. So the time is at most the length of s times that
// of the pattern.
func like(pieces []piece, s string) bool {
	last, retry := -1, "" // the last %, and the part of s that it has not matched
	i := 0
	for {
		if i < len(pieces) && pieces[i].kind == pieceAny {
			last, i = i, i+1
			if i == len(pieces) {
				return true
			}
			s = skipTo(pieces[i], s)
			retry = s
			continue
		}
		if i == len(pieces) && s == "" {
			return true
		}
		if i < len(pieces) {
			if rest, ok := pieces[i].take(s); ok {
				s, i = rest, i+1
				continue
			}
		}
		if last < 0 || retry == "" {
			return false
		}
		_, size := utf8.DecodeRuneInString(retry)
		i = last + 1
		retry = skipTo(pieces[i], retry[size:])
		s = retry
	}
}

// skipTo drops the part of s that cannot be the start of p.
func skipTo(p piece, s string) string {
	if p.kind != pieceText {
		return s
	}
	at := strings.Index(s, p.text)
	if at < 0 {
		return ""
	}
	return s[at:]
}

// take removes p from the beginning of s.
func (p piece) take(s string) (rest string, ok bool) {
	if p.kind == pieceText {
		return strings.CutPrefix(s, p.text)
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[size:], size > 0
}
