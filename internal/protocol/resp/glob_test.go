package resp

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
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
		if got := globMatch(tc.pattern, tc.s); got != tc.want {
			t.Errorf("%q, %q: %v", tc.pattern, tc.s, got)
		}
	}
}

// TestGlobTakesNoTime: a pattern made to be slow is not.
func TestGlobTakesNoTime(t *testing.T) {
	if globMatch(strings.Repeat("a*", 1000)+"b", strings.Repeat("a", 5000)) {
		t.Error("it matches")
	}
}
