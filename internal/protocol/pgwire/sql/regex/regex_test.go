package regex

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// all returns the matches with their groups: "whole|first|second", with ~ for a group that did not
// match.
func all(t *testing.T, pattern, flags, s string) (found []string) {
	t.Helper()
	p, _, err := Compile(pattern, flags)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	matches, err := p.All(s, 0, -1)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, m := range matches {
		var parts []string
		for i := 0; i < len(m); i += 2 {
			if m[i] < 0 {
				parts = append(parts, "~")
				continue
			}
			parts = append(parts, s[m[i]:m[i+1]])
		}
		found = append(found, strings.Join(parts, "|"))
	}
	if matched, err := p.Match(s); err != nil || matched != (len(found) > 0) {
		t.Errorf("%s: match %v, %v; found %q", pattern, matched, err, found)
	}
	return found
}

// The expected results are those of PostgreSQL 15. test/sql/expressions compares thousands of
// random patterns.
func TestAll(t *testing.T) {
	for _, c := range []struct {
		pattern, flags, s string
		want              []string
	}{
		{`\mпривет\M`, "", "привет, приветы привет", []string{"привет", "привет"}},
		{`\yмир\y`, "i", "МИР миру", []string{"МИР"}},
		{`[[:<:]]\w+[[:>:]]`, "", "ёж_1 и-да", []string{"ёж_1", "и", "да"}},
		{`ё`, "i", "Ёё", []string{"Ё", "ё"}},
		{`ς`, "i", "σςΣ", []string{"ς", "Σ"}},
		{`(\w)\1`, "", "abbccd", []string{"bb|b", "cc|c"}},
		{`(я)\1`, "i", "яЯ", []string{"яЯ|я"}},
		{`foo(?=bar)`, "", "foo foobar", []string{"foo"}},
		{`\w+(?!\w|!)`, "", "foo! bar", []string{"bar"}},
		{`(?<=\$)\d+`, "", "1 $23", []string{"23"}},
		{`(?<!\$)\m\d+`, "", "1 $23", []string{"1"}},
		{`(a|ab)(c|bcd)(d*)`, "", "abcd", []string{"abcd|ab|c|d"}},
		{`(?:a|ab)(?:c|bcd)(d*)`, "", "abcd", []string{"abcd|"}},
		{`(a*?)(b*)`, "", "aab", []string{"||", "||", "||", "||"}},
		{`(a)|b`, "", "ba", []string{"b|~", "a|a"}},
		{`b*`, "", "abc", []string{"", "b", "", ""}},
		{`^b`, "n", "b\nb", []string{"b", "b"}},
		{`^b`, "", "bb", []string{"b"}},
		{`a # of course`, "x", "a", []string{"a"}},
		{`a.c`, "q", "abc a.c", []string{"a.c"}},
		{`\x41\u0416\101`, "", "AЖA", []string{"AЖA"}},
		{`[[:digit:]]+|[٣४]`, "", "12٣", []string{"12", "٣"}},
		{``, "", "a", []string{"", ""}},
	} {
		if got := all(t, c.pattern, c.flags, c.s); !slices.Equal(got, c.want) {
			t.Errorf("%s in %q: %q, want %q", c.pattern, c.s, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"(":                             "parentheses () not balanced",
		"a)":                            "parentheses () not balanced",
		"[a":                            "brackets [] not balanced",
		"a{1":                           "braces {} not balanced",
		"a{2,1}":                        "invalid repetition count(s)",
		"a{256}":                        "invalid repetition count(s)",
		"*a":                            "quantifier operand invalid",
		"a**":                           "quantifier operand invalid",
		"^*":                            "quantifier operand invalid",
		`a\`:                            "invalid escape \\ sequence",
		`\q`:                            "invalid escape \\ sequence",
		`(a\1)`:                         "invalid backreference number",
		`(a)(?=\1)`:                     "invalid backreference number",
		"[b-a]":                         "invalid character range",
		"[[:letter:]]":                  "invalid character class",
		"[[.ab.]]":                      "invalid collating element",
		"(?z)a":                         "invalid embedded option",
		strings.Repeat("(", 1000) + "a": "regular expression is too complex",
		"((a{255}){255}){255}":          "regular expression is too complex",
	} {
		_, _, err := Compile(pattern, "")
		var e *pgerror.Error
		if !errors.As(err, &e) || e.Code != "2201B" || e.Message != "invalid regular expression: "+want {
			t.Errorf("%.20s: %v, want %s", pattern, err, want)
		}
	}
}

// The time for a pattern without back references depends only on the length of the text. Other
// patterns may hit the step limit.
func TestSteps(t *testing.T) {
	long := strings.Repeat("a", 200_000)
	for _, pattern := range []string{`(?:a*)*\mb`, `(?=.*b)a`, `^(?!.*b.*c)\y(a|aa)+\M`, `(?:a?){30}a{30}\y`, `(?<=b.*)a\Y`} {
		p, _, err := Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Match(long[:50_000]); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	p, _, err := Compile(`(a*)*(a*)*\1\2b`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Match(long[:5000] + "b"); !errors.Is(err, errFailed) {
		t.Errorf("%v, want it given up", err)
	}
}

// FuzzCompile: no pattern panics, and matches lie within the text.
func FuzzCompile(f *testing.F) {
	f.Add(`(a|b)*?\1{2,3}(?=\w)[^a-c[:alpha:]]`, "in", "abab бв")
	f.Add(`(?i)\m\x{41}\012[[=a=]-]`, "x", "A\xff")
	f.Fuzz(func(t *testing.T, pattern, flags, s string) {
		if len(pattern) > 100 || len(s) > 100 {
			return
		}
		p, _, err := Compile(pattern, flags)
		if err != nil {
			return
		}
		matches, _ := p.All(s, 0, -1)
		for _, m := range matches {
			for i := 0; i < len(m); i += 2 {
				if m[i] > m[i+1] || m[i+1] > len(s) || m[i] < 0 && m[i+1] >= 0 {
					t.Fatalf("%q in %q: %v", pattern, s, matches)
				}
			}
		}
	})
}
