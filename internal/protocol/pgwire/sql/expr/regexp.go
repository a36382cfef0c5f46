package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"fiveways/internal/protocol/pgwire/pgerror"
)

// pattern is a compiled regular expression of PostgreSQL.
type pattern struct {
	*regexp.Regexp
	global bool // the flag g
}

// Patterns are compiled once, as long as there is room for them.
var patterns struct {
	sync.RWMutex
	byText map[string]*regexp.Regexp
}

// maxPatterns is how many compiled patterns are kept.
const maxPatterns = 500

// compilePattern compiles an advanced regular expression with PostgreSQL's flags.
func compilePattern(text, flags string) (*pattern, error) {
	p := &pattern{}
	var t translator
	for _, f := range flags {
		switch f {
		case 'g':
			p.global = true
		case 'i':
			t.fold = true
		case 'c':
			t.fold = false
		case 'n', 'm':
			t.lines, t.noNewline = true, true
		case 's':
			t.lines, t.noNewline = false, false
		case 'p':
			t.lines, t.noNewline = false, true
		case 'w':
			t.lines, t.noNewline = true, false
		case 'x':
			t.expanded = true
		case 't':
			t.expanded = false
		case 'q':
			t.literal = true
		case 'e':
		case 'b':
			return nil, pgerror.New(pgerror.FeatureNotSupported, "regular expression option \"b\" is not supported")
		default:
			return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid regular expression option: \"%c\"", f)
		}
	}
	key := fmt.Sprintf("%v%v%v%v%v ", t.fold, t.lines, t.noNewline, t.expanded, t.literal) + text
	patterns.RLock()
	p.Regexp = patterns.byText[key]
	patterns.RUnlock()
	if p.Regexp != nil {
		return p, nil
	}
	var err error
	if p.Regexp, err = t.compile(text); err != nil {
		return nil, err
	}
	patterns.Lock()
	defer patterns.Unlock()
	if len(patterns.byText) >= maxPatterns || patterns.byText == nil {
		patterns.byText = map[string]*regexp.Regexp{}
	}
	patterns.byText[key] = p.Regexp
	return p, nil
}

// translator turns PostgreSQL's regular expressions into Go's. What Go's cannot do (back references, looking ahead and behind, the word
// boundaries \m and \M) is refused.
type translator struct {
	fold, lines, noNewline, expanded, literal bool

	in     string
	at     int
	out    strings.Builder
	greedy bool // no quantifier that takes as little as it can: the longest match is meant
}

func errPattern(what string) error {
	return pgerror.New("2201B", "invalid regular expression: %s", what)
}

func (t *translator) compile(text string) (*regexp.Regexp, error) {
	t.in, t.greedy = text, true
	if err := t.prefix(); err != nil {
		return nil, err
	}
	for t.at < len(t.in) {
		if err := t.atom(); err != nil {
			return nil, err
		}
	}
	flags := "(?s)"
	if t.noNewline {
		flags = ""
	}
	if t.lines {
		flags += "(?m)"
	}
	re, err := regexp.Compile(flags + t.out.String())
	if err != nil {
		return nil, patternError(err)
	}
	if t.greedy {
		re.Longest()
	}
	return re, nil
}

// prefix reads the directors *** and the options (?xyz) at the beginning.
func (t *translator) prefix() error {
	switch {
	case t.literal:
	case strings.HasPrefix(t.in, "***="):
		t.in, t.literal = t.in[4:], true
	case strings.HasPrefix(t.in, "***:"):
		t.in = t.in[4:]
	case strings.HasPrefix(t.in, "***"):
		return errPattern("invalid regexp (reg version 0.8)")
	}
	if t.literal || len(t.in) < 3 || !strings.HasPrefix(t.in, "(?") || !isLower(t.in[2]) {
		return nil
	}
	options, rest, ok := strings.Cut(t.in[2:], ")")
	if !ok {
		return errPattern("invalid embedded option")
	}
	for _, o := range options {
		switch o {
		case 'i':
			t.fold = true
		case 'c':
			t.fold = false
		case 'n', 'm':
			t.lines, t.noNewline = true, true
		case 's':
			t.lines, t.noNewline = false, false
		case 'p':
			t.lines, t.noNewline = false, true
		case 'w':
			t.lines, t.noNewline = true, false
		case 'x':
			t.expanded = true
		case 't', 'e':
		case 'q':
			t.literal = true
		default:
			return errPattern("invalid embedded option")
		}
	}
	t.in = rest
	return nil
}

func (t *translator) atom() error {
	c := t.in[t.at]
	switch {
	case t.literal:
		return t.char()
	case c == '\\':
		return t.escape()
	case c == '[':
		return t.bracket()
	case c == '(' && strings.HasPrefix(t.in[t.at:], "(?"):
		return t.group()
	case strings.IndexByte("*+?", c) >= 0:
		t.quantifier(t.in[t.at : t.at+1])
		return nil
	case c == '{':
		return t.counted()
	case strings.IndexByte("()|^$.", c) >= 0:
		t.out.WriteByte(c)
		t.at++
		return nil
	case t.expanded && strings.IndexByte(" \t\n\r", c) >= 0:
		t.at++
		return nil
	case t.expanded && c == '#':
		for t.at < len(t.in) && t.in[t.at] != '\n' {
			t.at++
		}
		return nil
	}
	return t.char()
}

// char is a character that stands for itself.
func (t *translator) char() error {
	r, size := utf8.DecodeRuneInString(t.in[t.at:])
	t.at += size
	t.put(r)
	return nil
}

func (t *translator) put(r rune) {
	if t.fold && r < utf8.RuneSelf && (isUpper(byte(r)) || isLower(byte(r))) {
		t.out.WriteString("[" + lower(string(r)) + upper(string(r)) + "]")
		return
	}
	t.out.WriteString(regexp.QuoteMeta(string(r)))
}

func (t *translator) quantifier(q string) {
	t.at += len(q)
	t.out.WriteString(q)
	if t.at < len(t.in) && t.in[t.at] == '?' {
		t.out.WriteByte('?')
		t.at++
		t.greedy = false
	}
}

// maxRepeat is the most that {m,n} may ask for.
const maxRepeat = 255

// counted is {m}, {m,} and {m,n}; a brace before anything but a digit stands for itself.
func (t *translator) counted() error {
	rest := t.in[t.at+1:]
	if rest == "" || rest[0] < '0' || rest[0] > '9' {
		return t.char()
	}
	body, _, ok := strings.Cut(rest, "}")
	if !ok {
		return errPattern("braces {} not balanced")
	}
	low, _, after := leadingNumber(body)
	high := low
	if strings.HasPrefix(after, ",") {
		any := false
		if high, any, after = leadingNumber(after[1:]); !any {
			high = low
		}
	}
	if after != "" || low > maxRepeat || high > maxRepeat || low > high {
		return errPattern("invalid repetition count(s)")
	}
	t.quantifier("{" + body + "}")
	return nil
}

func (t *translator) group() error {
	if strings.HasPrefix(t.in[t.at:], "(?:") {
		t.out.WriteString("(?:")
		t.at += 3
		return nil
	}
	if len(t.in) > t.at+2 && strings.IndexByte("=!<", t.in[t.at+2]) >= 0 {
		return pgerror.New(pgerror.FeatureNotSupported, "looking ahead and behind in regular expressions is not supported")
	}
	return errPattern("quantifier operand invalid")
}

// patternError tells Go's errors in PostgreSQL's words.
func patternError(err error) error {
	e, ok := err.(*syntax.Error)
	if !ok {
		return errPattern(err.Error())
	}
	switch e.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return errPattern("parentheses () not balanced")
	case syntax.ErrMissingBracket:
		return errPattern("brackets [] not balanced")
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return errPattern("quantifier operand invalid")
	case syntax.ErrInvalidCharRange:
		return errPattern("invalid character range")
	case syntax.ErrTrailingBackslash, syntax.ErrInvalidEscape:
		return errPattern("invalid escape \\ sequence")
	case syntax.ErrLarge, syntax.ErrInvalidRepeatSize:
		return errPattern("regular expression is too complex")
	}
	return errPattern(e.Error())
}
