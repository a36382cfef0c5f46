package glob

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		pattern, s string
		want       bool
	}{
		{"h?llo", "hello", true}, {"h?llo", "hllo", false}, {"h*llo", "hllo", true}, {"h*llo", "heeello", true}, {"h*llo", "heeell", false},
		{"h[ae]llo", "hallo", true}, {"h[ae]llo", "hillo", false}, {"h[^e]llo", "hallo", true}, {"h[^e]llo", "hello", false},
		{"h[a-b]llo", "hbllo", true}, {"h[b-a]llo", "hallo", true}, {"h[a-b]llo", "hcllo", false}, {`h\*llo`, "h*llo", true}, {`h\*llo`, "hxllo", false},
		{"*", "", false}, {"*", "x", true}, {"", "", true}, {"", "x", false}, {"a*", "a", true}, {"a**", "a", true}, {"a*b*", "ab", true}, {"**b", "aab", true},
		{"[", "[", false}, {"[a", "a", true}, {`[\]]`, "]", true}, {`\`, `\`, true}, {`a\`, `a\`, true}, {"*.x", "a.b.x", true}, {"?*", "a", true}, {"?", "", false},
	} {
		if got := Match(tc.pattern, tc.s); got != tc.want {
			t.Errorf("%q, %q: %v", tc.pattern, tc.s, got)
		}
	}
}

// TestMatchTakesNoTime checks that a pattern designed to be slow is not.
func TestMatchTakesNoTime(t *testing.T) {
	if Match(strings.Repeat("a*", 1000)+"b", strings.Repeat("a", 5000)) {
		t.Error("it matches")
	}
}

func TestPrefix(t *testing.T) {
	for _, tc := range []struct {
		pattern, prefix string
		whole           bool
	}{
		{"", "", true}, {"crowd", "crowd", true}, {"crowd:*", "crowd:", false}, {"a?c", "a", false}, {"[ab]c", "", false}, {`a\*b`, "a*b", true},
		{`a\*b*`, "a*b", false}, {`a\`, `a\`, true}, {"*", "", false},
	} {
		if prefix, whole := Prefix(tc.pattern); prefix != tc.prefix || whole != tc.whole {
			t.Errorf("%q: %q, %v", tc.pattern, prefix, whole)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, name := range []string{"", "crowd", "a*b?c[d]e", `back\slash`, "[^a-z]", "ä"} {
		pattern := Literal(name)
		if prefix, whole := Prefix(pattern); prefix != name || !whole {
			t.Errorf("the pattern %q of %q is that of %q, %v", pattern, name, prefix, whole)
		}
		if name != "" && !Match(pattern, name) || Match(pattern, name+"x") {
			t.Errorf("%q does not match %q alone", pattern, name)
		}
	}
}
