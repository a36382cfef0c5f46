package regex

import "strings"

// quantifier is a repetition count and a preference for more or fewer repetitions.
type quantifier struct{ min, max, prefers int }

// counts reports whether a brace begins a quantifier. A brace that is not followed by a digit is
// literal.
func (p *parser) counts() bool {
	rest := p.in[p.at:]
	return len(rest) > 1 && rest[0] == '{' && rest[1] >= '0' && rest[1] <= '9'
}

// quantifier parses a quantifier, if there is one.
func (p *parser) quantifier() (quantifier, error) {
	p.skip()
	if p.at >= len(p.in) {
		return quantifier{min: 1, max: 1}, nil
	}
	q := quantifier{prefers: longer}
	switch c := p.in[p.at]; {
	case c == '*':
		q.max = endless
	case c == '+':
		q.min, q.max = 1, endless
	case c == '?':
		q.max = 1
	case p.counts():
		return p.counted()
	default:
		return quantifier{min: 1, max: 1}, nil
	}
	p.at++
	q.prefers = p.modest()
	return q, nil
}

// modest parses the question mark of a non-greedy quantifier.
func (p *parser) modest() int {
	if p.at < len(p.in) && p.in[p.at] == '?' {
		p.at++
		return shorter
	}
	return longer
}

// counted parses {m}, {m,} and {m,n}. {m} has the preference of its operand.
func (p *parser) counted() (quantifier, error) {
	body, _, ok := strings.Cut(p.in[p.at+1:], "}")
	if !ok {
		return quantifier{}, errBraces
	}
	low, high, pair := strings.Cut(body, ",")
	q := quantifier{min: number(low), max: number(low)}
	if pair {
		if q.max = number(high); high == "" {
			q.max = endless
		}
	}
	if q.min > maxRepeat || q.max > maxRepeat || q.max != endless && q.min > q.max {
		return quantifier{}, errCount
	}
	p.at += len(body) + 2
	if prefers := p.modest(); pair {
		q.prefers = prefers
	}
	return q, nil
}

// number parses a count. It returns a number above the limit if the text is not a count.
func number(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return maxRepeat + 1
		}
		n = min(10*n+int(s[i]-'0'), maxRepeat+1)
	}
	return n
}

// plain repeats an atom that need not be dissected.
func (q quantifier) plain(atom *node) *node {
	if q.min == 1 && q.max == 1 {
		return atom
	}
	return &node{kind: repeat, min: q.min, max: q.max, kids: []*node{atom}, flags: combine(q.prefers, atom.flags), whole: true}
}

// apply repeats an atom that must be dissected, or whose preference differs from that of the
// preceding atoms.
func (q quantifier) apply(atom *node) *node {
	prefers := atom.flags & (preference | mixed)
	switch {
	case atom.kind == backref:
		atom.min, atom.max, atom.flags = q.min, q.max, atom.flags|combine(q.prefers, atom.flags)
		return atom
	case q.min == 1 && q.max == 1 && (q.prefers == 0 || prefers == 0 || q.prefers == prefers):
		return atom
	case atom.flags&(hasGroup|hasBackref) == 0:
		return &node{kind: repeat, min: q.min, max: q.max, kids: []*node{atom}, flags: combine(q.prefers, atom.flags), whole: true}
	case q.min > 0 && atom.flags&hasBackref == 0:
		return q.lastOfMany(atom)
	}
	return &node{kind: repeat, min: q.min, max: q.max, kids: []*node{atom}, flags: combine(q.prefers, atom.flags)}
}

// lastOfMany converts x{m,n} to x{m-1,n-1}x, because groups have the values of the last repetition.
func (q quantifier) lastOfMany(atom *node) *node {
	flags := combine(q.prefers, atom.flags)
	before := &node{kind: repeat, min: q.min - 1, max: q.max - 1, kids: []*node{atom}, flags: flags & preference, whole: true}
	if q.max == endless {
		before.max = endless
	}
	return &node{kind: cat, kids: []*node{before, atom}, flags: flags}
}
