package parse

import "strings"

// weight is an upper bound of the parser's work for a text, estimated from its words.
type weight struct {
	words int
	depth int // maximum depth of the tree; each word may add a level, but the items of a list do not add up
}

// level is an open bracket or CASE.
type level struct {
	run   int // words since the start of the current list item
	chain int // set operations and joins, which nest even if their operands contain lists
}

func (l level) depth() int { return l.run + l.chain }

// weigh splits text into words like PostgreSQL's scanner.
func weigh(text string) weight {
	var w weight
	open := []level{{}}
	outer := 0 // the depth of all levels but the last
	push := func() {
		outer += open[len(open)-1].depth() + 1
		open = append(open, level{})
	}
	pop := func() {
		if len(open) > 1 {
			open = open[:len(open)-1]
			outer -= open[len(open)-1].depth() + 1
		}
	}
	for i := 0; i < len(text); {
		n := blank(text[i:])
		if n > 0 {
			i += n
			continue
		}
		word := text[i : i+wordLength(text[i:])]
		i += len(word)
		w.words++
		last := &open[len(open)-1]
		switch kindOf(word) {
		case opening:
			last.run++
			push()
		case closing:
			pop()
		case listing:
			last.run = 0
		case ending:
			*last = level{}
		case chaining:
			last.chain++
		case plain:
			last.run++
		}
		w.depth = max(w.depth, outer+open[len(open)-1].depth())
	}
	return w
}

type kind int

const (
	plain    kind = iota
	literal       // adds no level to the tree
	opening       // opens a level
	closing       //
	listing       // starts the next item of a list; the parser flattens a AND b AND c, and OR
	ending        // starts the next statement
	chaining      // adds a level for everything that follows
)

var words = map[string]kind{
	"case": opening, "end": closing, "and": listing, "or": listing, "when": listing,
	"union": chaining, "intersect": chaining, "except": chaining, "join": chaining,
}

func kindOf(word string) kind {
	switch word[0] {
	case '(', '[':
		return opening
	case ')', ']':
		return closing
	case ',':
		return listing
	case ';':
		return ending
	case '\'':
		return literal
	}
	if len(word) > len("intersect") {
		return plain
	}
	return words[strings.ToLower(word)]
}

// blank returns the length of the white space or comment at the start of text.
func blank(text string) int {
	switch {
	case strings.IndexByte(" \t\n\r\f\v", text[0]) >= 0:
		return 1
	case strings.HasPrefix(text, "--"):
		if n := strings.IndexAny(text, "\r\n"); n >= 0 {
			return n
		}
		return len(text)
	case strings.HasPrefix(text, "/*"):
		return commentLength(text)
	}
	return 0
}

// commentLength returns the length of a comment, which may contain nested comments.
func commentLength(text string) int {
	inside := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			inside++
			i++
		case "*/":
			inside--
			i++
			if inside == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// wordLength returns the length of the word at the start of text. Each character of an operator
// counts as a word.
func wordLength(text string) int {
	switch c := text[0]; {
	case c == '\'' || c == '"':
		return quotedLength(text, c, false)
	case (c == 'e' || c == 'E') && len(text) > 1 && text[1] == '\'':
		return 1 + quotedLength(text[1:], '\'', true)
	case c == '$':
		return dollarLength(text)
	case isWordByte(c):
		return spanLength(text, isWordByte)
	}
	return 1
}

// quotedLength returns the length of the quoted text at the start of text. A doubled quote does not
// end it.
func quotedLength(text string, quote byte, escapes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\':
			i++
		case text[i] != quote:
		case i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

// dollarLength returns the length of $tag$ … $tag$, or of a parameter.
func dollarLength(text string) int {
	n := 1 + spanLength(text[1:], func(c byte) bool { return isWordByte(c) && c != '$' })
	if n == len(text) || text[n] != '$' || n > 1 && text[1] >= '0' && text[1] <= '9' {
		return n
	}
	tag := text[:n+1]
	if end := strings.Index(text[len(tag):], tag); end >= 0 {
		return 2*len(tag) + end
	}
	return len(text)
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func spanLength(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}
