package regex

import (
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Limits of a pattern.
const (
	maxRepeat = 255    // maximum in {m,n}
	maxDepth  = 400    // nesting of parentheses
	maxSize   = 200000 // characters, with repetitions expanded
)

// options are the options of a pattern.
type options struct {
	fold      bool // case-insensitive
	lines     bool // ^ and $ match at line boundaries
	noNewline bool // . and [^ ] do not match a newline
	expanded  bool // white space and comments are ignored
	literal   bool // no character is special
}

// parser parses an advanced regular expression.
type parser struct {
	options
	in     string
	at     int
	depth  int
	inLook bool    // groups do not capture there
	groups []*node // by number from 1; nil: incomplete
}

func errPattern(what string) error {
	return pgerror.New("2201B", "invalid regular expression: %s", what)
}

var (
	errParens     = errPattern("parentheses () not balanced")
	errBrackets   = errPattern("brackets [] not balanced")
	errBraces     = errPattern("braces {} not balanced")
	errCount      = errPattern("invalid repetition count(s)")
	errOperand    = errPattern("quantifier operand invalid")
	errEscape     = errPattern("invalid escape \\ sequence")
	errBackref    = errPattern("invalid backreference number")
	errRange      = errPattern("invalid character range")
	errClass      = errPattern("invalid character class")
	errCollating  = errPattern("invalid collating element")
	errOption     = errPattern("invalid embedded option")
	errTooComplex = errPattern("regular expression is too complex")
	errFailed     = pgerror.New("2201B", "regular expression failed: regular expression is too complex")
)

// parse parses the whole pattern.
func (p *parser) parse() (*node, error) {
	if err := p.prefix(); err != nil {
		return nil, err
	}
	if p.literal {
		return p.plainText(), nil
	}
	root, err := p.alternatives()
	switch {
	case err != nil:
		return nil, err
	case p.at < len(p.in): // an unmatched closing parenthesis
		return nil, errParens
	case root.size() > maxSize:
		return nil, errTooComplex
	}
	return root, nil
}

// prefix parses the directors *** and the options (?xyz) at the beginning.
func (p *parser) prefix() error {
	switch {
	case p.literal:
	case strings.HasPrefix(p.in, "***="):
		p.in, p.literal = p.in[4:], true
	case strings.HasPrefix(p.in, "***:"):
		p.in = p.in[4:]
	case strings.HasPrefix(p.in, "***"):
		return errPattern("invalid regexp (reg version 0.8)")
	}
	if p.literal || len(p.in) < 3 || !strings.HasPrefix(p.in, "(?") || p.in[2] < 'a' || p.in[2] > 'z' {
		return nil
	}
	letters, rest, ok := strings.Cut(p.in[2:], ")")
	if !ok {
		return errOption
	}
	for _, o := range letters {
		if !p.set(o) {
			return errOption
		}
	}
	p.in = rest
	return nil
}

// set sets the option for a letter. It returns false if there is none.
func (o *options) set(letter rune) bool {
	switch letter {
	case 'i':
		o.fold = true
	case 'c':
		o.fold = false
	case 'n', 'm':
		o.lines, o.noNewline = true, true
	case 's':
		o.lines, o.noNewline = false, false
	case 'p':
		o.lines, o.noNewline = false, true
	case 'w':
		o.lines, o.noNewline = true, false
	case 'x':
		o.expanded = true
	case 't':
		o.expanded = false
	case 'q':
		o.literal = true
	case 'e':
	default:
		return false
	}
	return true
}

func (p *parser) plainText() *node {
	all := &node{kind: cat, whole: true}
	for _, r := range p.in {
		all.kids = append(all.kids, p.one(r))
	}
	return all
}

// one returns a node for a literal character.
func (p *parser) one(r rune) *node {
	if p.fold {
		return &node{kind: char, set: bothCases(r)}
	}
	return &node{kind: char, set: set{{r, r}}}
}

// alternatives parses up to a closing parenthesis or the end.
func (p *parser) alternatives() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errTooComplex
	}
	defer func() { p.depth-- }()
	first, err := p.branch()
	if err != nil || !p.sees('|') {
		return first, err
	}
	all := &node{kind: alt, flags: longer | up(longer|first.flags), kids: []*node{first}}
	for p.sees('|') {
		p.at++
		b, err := p.branch()
		if err != nil {
			return nil, err
		}
		all.kids, all.flags = append(all.kids, b), all.flags|up(all.flags|b.flags)
	}
	all.whole = !messy(all.flags)
	return all, nil
}

// sees reports whether the next character is c, after ignored text.
func (p *parser) sees(c byte) bool {
	p.skip()
	return p.at < len(p.in) && p.in[p.at] == c
}

// skip skips (?#) comments and, in expanded syntax, white space and comments.
func (p *parser) skip() {
	for p.at < len(p.in) {
		rest := p.in[p.at:]
		switch {
		case strings.HasPrefix(rest, "(?#"):
			end := strings.IndexByte(rest, ')')
			if end < 0 {
				p.at = len(p.in)
				return
			}
			p.at += end + 1
		case p.expanded && strings.IndexByte(" \t\n\v\f\r", rest[0]) >= 0:
			p.at++
		case p.expanded && rest[0] == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.at += end
		default:
			return
		}
	}
}

// ended reports whether a branch ends here.
func (p *parser) ended() bool {
	return p.sees('|') || p.sees(')') || p.at >= len(p.in)
}

// branch parses a sequence of atoms. The leading atoms that have the same preference and capture
// nothing form one part. They are followed by the first atom that does not fit, and the rest is a
// branch again. PostgreSQL splits in the same way, which determines what groups match.
func (p *parser) branch() (*node, error) {
	row := &node{kind: cat, whole: true}
	for !p.ended() {
		atom, err := p.atom()
		if err != nil {
			return nil, err
		}
		if atom.kind == border || atom.kind == look {
			row.kids = append(row.kids, atom)
			continue
		}
		q, err := p.quantifier()
		if err != nil {
			return nil, err
		}
		if q.max == 0 {
			continue
		}
		flags := row.flags | q.prefers | atom.flags
		if atom.kind != group && atom.kind != backref && !messy(up(flags)) {
			row.kids, row.flags = append(row.kids, q.plain(atom)), flags
			continue
		}
		rest := &node{kind: empty}
		messed := q.apply(atom)
		if !p.ended() {
			if rest, err = p.branch(); err != nil {
				return nil, err
			}
		}
		tail := joined(messed, rest)
		return joined(row, tail), nil
	}
	return row, nil
}

// joined returns the concatenation of a and b.
func joined(a, b *node) *node {
	return &node{kind: cat, kids: []*node{a, b}, flags: combine(a.flags, b.flags)}
}

// atom parses an atom, which a quantifier may follow, or an assertion.
func (p *parser) atom() (*node, error) {
	c := p.in[p.at]
	switch c {
	case '\\':
		return p.escape()
	case '[':
		return p.bracket()
	case '(':
		return p.parenthesis()
	case '*', '+', '?':
		return nil, errOperand
	case '{':
		if p.counts() {
			return nil, errOperand
		}
	case '^', '$':
		p.at++
		if p.lines {
			c = map[byte]byte{'^': '<', '$': '>'}[c]
		}
		return &node{kind: border, place: c}, nil
	case '.':
		p.at++
		return &node{kind: char, set: p.without(nil)}, nil
	}
	r, size := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += size
	return p.one(r), nil
}

// without returns the complement of s, without the newline if noNewline is set.
func (p *parser) without(s set) set {
	if p.noNewline {
		s = union(append([]span{{'\n', '\n'}}, s...))
	}
	return s.not()
}

func (p *parser) parenthesis() (*node, error) {
	rest := p.in[p.at:]
	switch {
	case strings.HasPrefix(rest, "(?:"):
		p.at += 3
		return p.closed()
	case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!"):
		p.at += 3
		return p.looking(false, rest[2] == '!')
	case strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!"):
		p.at += 4
		return p.looking(true, rest[3] == '!')
	case strings.HasPrefix(rest, "(?"):
		return nil, errOperand
	}
	p.at++
	if p.inLook {
		return p.closed()
	}
	p.groups = append(p.groups, nil)
	number := len(p.groups)
	inner, err := p.closed()
	if err != nil {
		return nil, err
	}
	g := &node{kind: group, number: number, kids: []*node{inner}, flags: inner.flags | hasGroup}
	p.groups[number-1] = g
	return g, nil
}

// closed parses up to and including the closing parenthesis.
func (p *parser) closed() (*node, error) {
	inner, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.sees(')') {
		return nil, errParens
	}
	p.at++
	return inner, nil
}

func (p *parser) looking(behind, denied bool) (*node, error) {
	outer := p.inLook
	p.inLook = true
	inner, err := p.closed()
	p.inLook = outer
	return &node{kind: look, behind: behind, denied: denied, kids: []*node{inner}}, err
}
