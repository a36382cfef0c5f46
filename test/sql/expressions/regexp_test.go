package expressions

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/seeded"
)

// Atoms, quantifiers and texts use few characters, so that patterns match often and in many ways.
var (
	regexpAtoms = []string{"a", "b", "c", "я", "Я", "σ", "ς", ".", "[ab]", "[^b]", "[а-я]", `\w`, `\W`, `\s`, `\d`, "[[:upper:]]", "_", "-", "1", " ", `\u044f`, `\x61`,
		"[[:lower:]b]", "[b-]", `[\w-]`, `\S`, "Ж", "ж", `\.`, "[a-cЯ]", `[^\W]`, "{", "[]a]", "٣"}
	regexpBorders     = []string{"^", "$", `\A`, `\Z`, `\y`, `\Y`, `\m`, `\M`, "[[:<:]]", "[[:>:]]"}
	regexpQuantifiers = []string{"", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{1,2}?", "{0,1}", "{2,}", "{0}", "{1}?", "{2}?", "{0,3}?"}
	regexpFlags       = []string{"", "", "", "i", "n", "p", "w", "x", "in"}
	regexpWords       = []string{"a", "b", "c", "я", "Я", "σ", "ς", "Σ", " ", "_", "-", "1", "ж", "ab", "aab", "abc", "ЯЖ", "aa", "\n", "A", "B", "٣", "aяa"}
)

func (g generator) regexp(depth int) string {
	var b strings.Builder
	for range g.IntN(4) + 1 {
		switch n := g.IntN(20); {
		case n < 2:
			b.WriteString(g.pick(regexpBorders))
			continue
		case n < 6 && depth > 0:
			b.WriteString("(" + g.regexp(depth-1) + ")")
		case n < 8 && depth > 0:
			b.WriteString("(?:" + g.regexp(depth-1) + ")")
		case n < 9 && depth > 0:
			b.WriteString(g.pick([]string{"(?=", "(?!", "(?<=", "(?<!"}) + g.regexp(depth-1) + ")")
			continue
		case n < 10:
			b.WriteString(g.pick([]string{`\1`, `\1`, `\2`, `\12`, `\08`}))
		default:
			b.WriteString(g.pick(regexpAtoms))
		}
		b.WriteString(g.pick(regexpQuantifiers))
	}
	if g.IntN(5) == 0 && depth > 0 {
		return b.String() + "|" + g.regexp(depth-1)
	}
	return b.String()
}

// regexpUse returns an expression with a pattern.
func (g generator) regexpUse() string {
	var text strings.Builder
	for range g.IntN(8) {
		text.WriteString(g.pick(regexpWords))
	}
	s, pattern, flags := "'"+text.String()+"'", "'"+g.regexp(2)+"'", "'"+g.pick(regexpFlags)+"'"
	return strings.NewReplacer("S", s, "P", pattern, "F", flags).Replace(g.pick([]string{
		"S ~ P", "S ~* P", "regexp_match(S, P, F)", "regexp_match(S, P, F)", `regexp_replace(S, P, '<\1|\2|\&>', 'g')`, "regexp_count(S, P, 2, F)",
		"regexp_split_to_array(S, P, F)", "substring(S from P)", "regexp_substr(S, P, 2, 2, F, 1)", "regexp_replace(S, P, '-', 3, 2)", "regexp_count(S, P)",
	}))
}

// TestRandomPatterns matches random patterns here and in PostgreSQL.
func TestRandomPatterns(t *testing.T) {
	conn, hstore := connect(t)
	count, rng := seeded.Cases(t, "EXPRESSIONS", 3000, 2)
	g := generator{rng}
	set, differences := variants[0].ours(t), 0
	for range count {
		text := g.regexpUse()
		want, got := ask(t, conn, hstore, text), evaluate(text, set)
		if got.same(want) && got.message == want.message {
			continue
		}
		t.Errorf("%s\n  PostgreSQL: %s\n  here:       %s", text, want, got)
		if differences++; differences > 40 {
			t.Fatal("too many differences")
		}
	}
	t.Logf("%d patterns, %d differences", count, differences)
}
