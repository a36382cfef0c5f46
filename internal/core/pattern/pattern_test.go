package pattern

import (
	"errors"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"", "q", true}, {".*", "", true}, {"^q", "q1", true}, {"^q", "aq", false}, {"q$", "aq", true},
		{`^(?!amq\.)`, "orders", true}, {`^(?!amq\.)`, "amq.gen-1", false}, {`^(?!amq\.)`, "my.amq.", true},
		{`^(?!(amq|sys)\.).*`, "sys.x", false}, {`(?<=a)b`, "ab", true}, {`(?<=a)b`, "cb", false}, {`^(a+)-\1$`, "aa-aa", true}, {`^(a+)-\1$`, "aa-a", false},
		{`^(?!é)`, "é", false}, {`(?>a+)b`, "aab", true}, {`^(?=.*x)`, "\xff", false},
	} {
		p, err := Compile(c.text)
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		if got := p.Match(c.name); got != c.want || p.MatchBytes([]byte(c.name)) != c.want {
			t.Errorf("%q in %q: %v, want %v", c.text, c.name, got, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"(": "missing closing ): `(`", "[z-a]": "invalid character class range: `z-a`", "*": "missing argument to repetition operator: `*`",
		"(?<!": "invalid named capture: `(?<!`",
	} {
		if _, err := Compile(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestSlowPatternIsSpent checks that a pattern designed to take forever costs its time only once.
func TestSlowPatternIsSpent(t *testing.T) {
	p, err := Compile(`^(?=a)(a+)+$`)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Match("aaa") || p.spent.Load() {
		t.Fatal("it matches nothing")
	}
	if p.Match(strings.Repeat("a", 60)+"b") || !p.spent.Load() {
		t.Error("it went on")
	}
	if p.Match("aaa") {
		t.Error("it matches again")
	}
}

// halting is a matcher that gives up a number of times and then matches.
type halting int

func (h *halting) MatchString(string) (bool, error) {
	if *h--; *h >= 0 {
		return false, errors.New("match timeout")
	}
	return true, nil
}

// TestHaltedMatcherTriesAgain checks that a pattern keeps its meaning on a busy machine: it is
// spent only if a name takes too long several times in a row.
func TestHaltedMatcherTriesAgain(t *testing.T) {
	for halts := range tries + 2 {
		h := halting(halts)
		p := &Pattern{back: &h}
		spent := halts >= tries
		if found := p.Match("q"); found == spent || p.spent.Load() != spent {
			t.Errorf("%d halts: found %v, spent %v", halts, found, p.spent.Load())
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{".*", `^(?!amq\.)`, "(", `(a)\1`, `\p{L}+`, "(?i)a{2,3}"} {
		f.Add(text, "amq.orders")
	}
	f.Fuzz(func(_ *testing.T, text, name string) {
		if p, err := Compile(text); err == nil {
			p.Match(name)
			p.MatchBytes([]byte(name))
		}
	})
}
