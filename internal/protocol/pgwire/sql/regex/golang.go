package regex

import (
	"fmt"
	"regexp"
	"strings"
)

// plain translates the pattern for Go's regexp, which is faster, or returns nil if Go cannot match
// the same texts. finds reports whether Go also finds the same matches. That requires longest
// matches, no groups, and no dependence on the text before the start of the search.
func plain(root *node) (re *regexp.Regexp, finds bool) {
	t := translator{finds: root.flags&(shorter|mixed|hasGroup) == 0}
	if !t.write(root) {
		return nil, false
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil { // too large
		return nil, false
	}
	re.Longest()
	return re, t.finds
}

type translator struct {
	out   strings.Builder
	finds bool
}

// borders are the assertions that Go supports.
var borders = map[byte]string{'^': `\A`, 'A': `\A`, '$': `\z`, 'Z': `\z`, '<': `(?m:^)`, '>': `(?m:$)`}

// write writes a node. It returns false if Go has no equivalent.
func (t *translator) write(n *node) bool {
	switch n.kind {
	case look, backref:
		return false
	case border:
		text, ok := borders[n.place]
		t.out.WriteString(text)
		t.finds = t.finds && (n.place == '$' || n.place == 'Z' || n.place == '>')
		return ok
	case char:
		t.writeSet(n.set)
		return true
	}
	t.out.WriteString("(?:")
	for i, kid := range n.kids {
		if i > 0 && n.kind == alt {
			t.out.WriteByte('|')
		}
		if !t.write(kid) {
			return false
		}
	}
	t.out.WriteByte(')')
	if n.kind == repeat {
		t.writeCount(n)
	}
	return true
}

func (t *translator) writeCount(n *node) {
	switch {
	case n.max != endless:
		fmt.Fprintf(&t.out, "{%d,%d}", n.min, n.max)
	case n.min == 0:
		t.out.WriteByte('*')
	default:
		fmt.Fprintf(&t.out, "{%d,}", n.min)
	}
}

func (t *translator) writeSet(s set) {
	if len(s) == 1 && s[0].lo == s[0].hi {
		t.out.WriteString(regexp.QuoteMeta(string(s[0].lo)))
		return
	}
	if len(s) == 0 {
		t.out.WriteString(`[^\x{0}-\x{10FFFF}]`)
		return
	}
	t.out.WriteByte('[')
	for _, one := range s {
		fmt.Fprintf(&t.out, `\x{%X}-\x{%X}`, one.lo, one.hi)
	}
	t.out.WriteByte(']')
}
