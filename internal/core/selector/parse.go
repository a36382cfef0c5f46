package selector

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/message"
)

// parser parses a condition by recursive descent; doc.go has the grammar. The first failure sticks:
// after it there are no more tokens, so every loop ends, and one check at the end is enough.
type parser struct {
	text  string
	tok   token // current token
	depth int
	err   *Error
}

func parse(text string) (*node, error) {
	p := parser{text: text}
	if len(text) > MaxText {
		return nil, &Error{1, fmt.Sprintf("the text is longer than %d bytes", MaxText)}
	}
	for i, c := range text {
		if c == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				p.fail(i, "the text is not UTF-8")
				return nil, p.err
			}
		}
	}
	p.next()
	at := p.tok.at
	root := p.condition()
	p.mustBeCondition(at, root)
	if p.tok.kind != tokEnd {
		p.expected("an operator or the end")
	}
	if p.err != nil {
		return nil, p.err
	}
	return root, nil
}

// fail records a failure at a byte position, unless there was an earlier one.
func (p *parser) fail(at int, text string) {
	if p.err == nil {
		p.err = &Error{utf8.RuneCountInString(p.text[:at]) + 1, text}
	}
	p.tok.kind = tokEnd
}

func (p *parser) expected(what string) {
	got := tokEnd
	if p.tok.kind != tokEnd {
		got = quote(p.text[p.tok.at:p.tok.end])
	}
	p.fail(p.tok.at, "expected "+what+", got "+got)
}

// accept consumes the current token if it is of this kind.
func (p *parser) accept(kind string) bool {
	if p.tok.kind != kind || p.err != nil {
		return false
	}
	p.next()
	return true
}

func (p *parser) require(kind string) {
	if !p.accept(kind) {
		p.expected(kind)
	}
}

// node returns an operator over kids. at is the position of the error if the tree is too high.
func (p *parser) node(at int, op op, kids ...*node) *node {
	n := &node{op: op, kids: kids, height: 1}
	for _, k := range kids {
		n.height = max(n.height, k.height+1)
	}
	if n.height > MaxDepth {
		p.fail(at, tooDeep)
	}
	return n
}

var tooDeep = fmt.Sprintf("nested deeper than %d", MaxDepth)

// enter increments the level of recursion; leave decrements it.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.fail(p.tok.at, tooDeep)
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) condition() *node { return p.joined("OR", opOr, p.conjunction) }

func (p *parser) conjunction() *node { return p.joined("AND", opAnd, p.negation) }

// joined parses one or more parts separated by a keyword.
func (p *parser) joined(keyword string, op op, part func() *node) *node {
	at := p.tok.at
	kids := []*node{part()}
	for p.tok.kind == keyword {
		p.mustBeCondition(at, kids[len(kids)-1])
		p.next()
		at = p.tok.at
		kids = append(kids, part())
	}
	if len(kids) == 1 {
		return kids[0]
	}
	p.mustBeCondition(at, kids[len(kids)-1])
	return p.node(at, op, kids...)
}

// mustBeCondition refuses nodes that can never be true.
func (p *parser) mustBeCondition(at int, n *node) {
	if p.err == nil && !n.isCondition() {
		p.fail(at, "expected a condition, got a value")
	}
}

func (p *parser) negation() *node {
	at := p.tok.at
	if !p.accept("NOT") {
		return p.predicate()
	}
	p.enter()
	defer p.leave()
	of := p.tok.at
	n := p.negation()
	p.mustBeCondition(of, n)
	return p.node(at, opNot, n)
}

var comparisons = map[string]op{
	"=": opEqual, "<>": opNotEqual, "!=": opNotEqual, "<": opLess, ">": opGreater, "<=": opLessEqual, ">=": opGreaterEqual,
}

func (p *parser) predicate() *node {
	x := p.sum()
	at := p.tok.at
	if op, ok := comparisons[p.tok.kind]; ok {
		p.next()
		return p.node(at, op, x, p.sum())
	}
	if p.accept("IS") {
		not := p.accept("NOT")
		p.require("NULL")
		return p.unless(at, not, p.node(at, opIsNull, x))
	}
	not := p.accept("NOT")
	switch {
	case p.accept("BETWEEN"):
		low := p.sum()
		p.require("AND")
		x = p.node(at, opBetween, x, low, p.sum())
	case p.accept("IN"):
		x = p.in(at, x)
	case p.accept("LIKE"):
		x = p.like(at, x)
	case not:
		p.expected("BETWEEN, IN or LIKE")
	}
	return p.unless(at, not, x)
}

// unless returns n, or NOT n if not is true.
func (p *parser) unless(at int, not bool, n *node) *node {
	if !not {
		return n
	}
	return p.node(at, opNot, n)
}

// in parses the list after IN. All its values are of one kind, so the result for a value of another
// kind is unknown.
func (p *parser) in(at int, x *node) *node {
	n := p.node(at, opIn, x)
	n.set = map[value]struct{}{}
	p.require("(")
	n.texts = p.tok.kind == tokString
	for count := 1; ; count++ {
		if count > MaxList {
			p.fail(p.tok.at, fmt.Sprintf("more than %d values", MaxList))
		}
		n.set[p.listed(n.texts).canonical()] = struct{}{}
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		p.expected(", or )")
	}
	return n
}

// listed parses one literal of a list.
func (p *parser) listed(text bool) value {
	if text {
		s := p.tok.text
		p.require(tokString)
		return strValue(s)
	}
	negative := false
	if !p.accept("+") {
		negative = p.accept("-")
	}
	return p.numeral(negative)
}

// numeral parses a number whose sign was already read.
func (p *parser) numeral(negative bool) value {
	if p.tok.kind != tokNumber {
		p.expected("a string or a number")
		return value{}
	}
	v, ok := p.tok.num.value(negative)
	if !ok {
		p.expected("a number of 64 bits")
	}
	p.next()
	return v
}

func (p *parser) like(at int, x *node) *node {
	n := p.node(at, opLike, x)
	pattern, stands := p.tok.text, p.tok.at
	p.require(tokString)
	var escape rune
	if p.accept("ESCAPE") {
		if utf8.RuneCountInString(p.tok.text) != 1 || p.tok.kind != tokString {
			p.expected("a string of one character")
		}
		escape, _ = utf8.DecodeRuneInString(p.tok.text)
		p.next()
	}
	var problem string
	if n.pattern, problem = splitPattern(pattern, escape); problem != "" {
		p.fail(stands, problem)
	}
	return n
}

var (
	ofSums     = map[string]op{"+": opAdd, "-": opSub}
	ofProducts = map[string]op{"*": opMul, "/": opDiv}
)

func (p *parser) sum() *node { return p.calculation(p.product, ofSums) }

func (p *parser) product() *node { return p.calculation(p.sign, ofProducts) }

// calculation reads operands with operators between them, from left to right.
func (p *parser) calculation(operand func() *node, operators map[string]op) *node {
	x := operand()
	for {
		at := p.tok.at
		op, ok := operators[p.tok.kind]
		if !ok || p.err != nil {
			return x
		}
		p.next()
		x = p.arithmetic(at, op, x, operand())
	}
}

func (p *parser) arithmetic(at int, op op, kids ...*node) *node {
	for _, k := range kids {
		if p.err == nil && (k.op == opLiteral && k.val.kind != integer && k.val.kind != float) {
			p.fail(at, "expected a number to calculate with")
		}
	}
	return p.node(at, op, kids...)
}

// sign parses a primary with optional signs. A minus sign and a number are one literal, because the
// smallest integer has no positive counterpart.
func (p *parser) sign() *node {
	at := p.tok.at
	switch {
	case p.accept("+"):
		p.enter()
		defer p.leave()
		return p.sign()
	case p.accept("-"):
		if p.tok.kind == tokNumber {
			return p.literal(p.numeral(true))
		}
		p.enter()
		defer p.leave()
		return p.arithmetic(at, opNeg, p.sign())
	}
	return p.primary()
}

func (p *parser) literal(v value) *node { return &node{op: opLiteral, val: v, height: 1} }

func (p *parser) primary() *node {
	t := p.tok
	switch t.kind {
	case tokString:
		p.next()
		return p.literal(strValue(t.text))
	case tokNumber:
		return p.literal(p.numeral(false))
	case "TRUE", "FALSE":
		p.next()
		return p.literal(boolValue(t.kind == "TRUE"))
	case tokWord, tokQuoted:
		p.next()
		if t.kind == tokWord && p.tok.kind == "(" {
			return p.exists(t)
		}
		return p.name(t)
	case "(":
		p.enter()
		defer p.leave()
		p.next()
		n := p.condition()
		p.require(")")
		return n
	}
	p.expected("a value")
	return p.literal(value{})
}

// exists parses EXISTS(name), the only function. EXISTS is not a keyword, so a header may have this
// name.
func (p *parser) exists(function token) *node {
	if upper(function.text) != "EXISTS" {
		p.fail(function.at, "there is no function "+quote(function.text))
	}
	p.require("(")
	t := p.tok
	if t.kind != tokWord && t.kind != tokQuoted {
		p.expected(tokWord)
	}
	p.next()
	n := p.name(t)
	p.require(")")
	return p.node(function.at, opNot, p.node(function.at, opIsNull, n))
}

// name resolves a name.
func (p *parser) name(t token) *node {
	full := t.prefix + t.text
	if s, ok := further[full]; ok && t.kind == tokWord {
		return &node{op: opField, source: s, height: 1}
	}
	if t.kind == tokQuoted && t.prefix == "" {
		return p.header(t.at, t.text)
	}
	short, prefixed := strings.CutPrefix(full, propertyPrefix)
	if s, ok := properties[short]; ok && (prefixed || t.kind == tokWord) {
		return &node{op: opField, source: s, height: 1}
	}
	if prefixed {
		p.fail(t.at, "there is no property "+quote(short))
	}
	for _, prefix := range headerPrefixes {
		if name, ok := strings.CutPrefix(full, prefix); ok {
			return p.header(t.at, name)
		}
	}
	if t.kind == tokQuoted {
		p.fail(t.at, "expected headers. or properties. in front of a quoted name")
	}
	return p.header(t.at, full)
}

func (p *parser) header(at int, name string) *node {
	if len(name) > message.MaxShortStr {
		p.fail(at, fmt.Sprintf("a header's name has at most %d bytes", message.MaxShortStr))
	}
	return &node{op: opHeader, name: name, height: 1}
}
