package selector

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// printed prints a parsed condition with parentheses around every part. Names of fields come from
// the tables; JMS names are used where JMS has its own.
func printed(n *node) string {
	kid := func(i int) string { return printed(n.kids[i]) }
	switch n.op {
	case opLiteral:
		return literal(n.val)
	case opField:
		return fieldName(n.source)
	case opHeader:
		return `headers."` + strings.ReplaceAll(n.name, `"`, `""`) + `"`
	case opAnd, opOr:
		var all []string
		for i := range n.kids {
			all = append(all, kid(i))
		}
		return "(" + strings.Join(all, map[op]string{opAnd: " AND ", opOr: " OR "}[n.op]) + ")"
	case opNot:
		return "(NOT " + kid(0) + ")"
	case opIsNull:
		return "(" + kid(0) + " IS NULL)"
	case opBetween:
		return "(" + kid(0) + " BETWEEN " + kid(1) + " AND " + kid(2) + ")"
	case opIn:
		var all []string
		for v := range n.set {
			all = append(all, literal(v))
		}
		sort.Strings(all)
		return "(" + kid(0) + " IN (" + strings.Join(all, ", ") + "))"
	case opLike:
		return "(" + kid(0) + " LIKE " + literal(strValue(patternText(n.pattern))) + " ESCAPE '!')"
	case opNeg:
		return "(- (" + kid(0) + "))"
	}
	return "(" + kid(0) + " " + operatorText[n.op] + " " + kid(1) + ")"
}

var operatorText = map[op]string{
	opEqual: "=", opNotEqual: "<>", opLess: "<", opGreater: ">", opLessEqual: "<=", opGreaterEqual: ">=",
	opAdd: "+", opSub: "-", opMul: "*", opDiv: "/",
}

func literal(v value) string {
	switch v.kind {
	case boolean:
		return strings.ToUpper(strconv.FormatBool(v.num == 1))
	case integer:
		return fmt.Sprint(int64(v.num))
	case float:
		return strconv.FormatFloat(v.float(), 'e', -1, 64)
	}
	return "'" + strings.ReplaceAll(v.str, "'", "''") + "'"
}

func fieldName(s source) string {
	for name, is := range properties {
		if s == is {
			return "properties." + name
		}
	}
	for name, is := range further {
		if s == is {
			return name
		}
	}
	return "?"
}

func patternText(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch p.kind {
		case pieceOne:
			b.WriteByte('_')
		case pieceAny:
			b.WriteByte('%')
		default:
			b.WriteString(strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(p.text))
		}
	}
	return b.String()
}

// FuzzCompile checks that no text and no properties cause a panic, and that a printed condition
// parses to the same condition.
func FuzzCompile(f *testing.F) {
	_, _, props, _ := order().Split()
	for _, list := range conditions {
		for text := range lines(list) {
			f.Add(text, props)
		}
	}
	f.Add("a LIKE 'x!' ESCAPE '!' OR (((", []byte{0xff, 0xf0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, text string, props []byte) {
		s, err := Compile(text)
		if err != nil {
			return
		}
		m := &Message{Exchange: "e", Key: "k", Props: props}
		matched := s.MatchMessage(m)
		once := printed(s.root)
		again, err := Compile(once)
		if err != nil {
			if len(once) > MaxText || strings.Contains(err.Error(), tooDeep) {
				return // the added parentheses exceed the depth limit
			}
			t.Fatalf("%q prints as %q: %v", text, once, err)
		}
		if twice := printed(again.root); twice != once {
			t.Fatalf("%q prints as %q, then as %q", text, once, twice)
		}
		if again.MatchMessage(m) != matched {
			t.Fatalf("%q matches %v, printed as %q it does not agree", text, matched, once)
		}
		if _, err := message.PeekProperties(props); err == nil {
			s.Match(message.AppendEnvelopeHeader(nil, "e", "k", props))
		}
	})
}
