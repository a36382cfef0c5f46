package text

import (
	"iter"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/regex"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func matches(flags string, want bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		p, _, err := regex.Compile(a[1].(string), flags)
		if err != nil {
			return nil, err
		}
		found, err := p.Match(a[0].(string))
		return found == want, err
	}
}

// flagsOf returns the flags of a call from argument i, or "" if it is not given.
func flagsOf(a []value.Datum, i int) string {
	if len(a) > i {
		return a[i].(string)
	}
	return ""
}

func errGlobal(name string) error {
	return pgerror.New(pgerror.InvalidParameterValue, "%s() does not support the \"global\" option", name)
}

// regexpSubstr implements substring(text from pattern). It returns the first group, or the whole
// match if there are no groups.
func regexpSubstr(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	p, _, err := regex.Compile(a[1].(string), "")
	if err != nil {
		return nil, err
	}
	s := a[0].(string)
	found, err := p.Find(s)
	if found == nil {
		return nil, err
	}
	group := 0
	if len(found) > 2 {
		group = 1
	}
	if found[2*group] < 0 {
		return nil, nil
	}
	return s[found[2*group]:found[2*group+1]], nil
}

// groupsOf returns the groups of a match as an array, or the whole match if there are no groups.
func groupsOf(s string, found []int) value.Datum {
	start := 2
	if len(found) == 2 {
		start = 0
	}
	var elems []value.Datum
	for i := start; i < len(found); i += 2 {
		if found[i] < 0 {
			elems = append(elems, nil)
		} else {
			elems = append(elems, s[found[i]:found[i+1]])
		}
	}
	return value.NewArray(value.Text, elems)
}

func regexpMatch(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	p, global, err := regex.Compile(a[1].(string), flagsOf(a, 2))
	if err != nil {
		return nil, err
	}
	if global {
		return nil, errGlobal("regexp_match").(*pgerror.Error).WithHint("Use the regexp_matches function instead.")
	}
	found, err := p.Find(a[0].(string))
	if found == nil {
		return nil, err
	}
	return groupsOf(a[0].(string), found), nil
}

func regexpMatches(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		p, global, err := regex.Compile(a[1].(string), flagsOf(a, 2))
		if err != nil {
			yield(nil, err)
			return
		}
		limit := 1
		if global {
			limit = -1
		}
		all, err := p.All(a[0].(string), 0, limit)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, found := range all {
			if !yield([]value.Datum{groupsOf(a[0].(string), found)}, nil) {
				return
			}
		}
	}
}

// splitBy splits s at the matches. As in PostgreSQL, an empty match at the start, at the end or
// right after a match does not split.
func splitBy(s, expression, flags, name string) ([]string, error) {
	p, global, err := regex.Compile(expression, flags)
	if err != nil {
		return nil, err
	}
	if global {
		return nil, errGlobal(name)
	}
	all, err := p.All(s, 0, -1)
	if err != nil {
		return nil, err
	}
	var parts []string
	from := 0
	for _, m := range all {
		if m[0] == m[1] && (m[0] == 0 || m[0] == len(s) || m[0] == from) {
			continue
		}
		parts = append(parts, s[from:m[0]])
		from = m[1]
	}
	return append(parts, s[from:]), nil
}

func regexpSplit(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	parts, err := splitBy(a[0].(string), a[1].(string), flagsOf(a, 2), "regexp_split_to_array")
	return value.Result(value.TextArray(parts), err)
}

func regexpSplitRows(_ *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		parts, err := splitBy(a[0].(string), a[1].(string), flagsOf(a, 2), "regexp_split_to_table")
		if err != nil {
			yield(nil, err)
			return
		}
		for _, part := range parts {
			if !yield([]value.Datum{part}, nil) {
				return
			}
		}
	}
}

// replaceMatches replaces match n (from 1; 0: all) of those that begin at offset from or later.
func replaceMatches(p *regex.Pattern, s, with string, from, n int) (value.Datum, error) {
	limit := n
	if n == 0 {
		limit = -1
	}
	all, err := p.All(s, from, limit)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		all = all[min(n-1, len(all)):]
	}
	var b strings.Builder
	last := 0
	for _, m := range all {
		b.WriteString(s[last:m[0]])
		expand(&b, s, with, m)
		last = m[1]
	}
	b.WriteString(s[last:])
	return b.String(), nil
}

// expand writes a replacement text: \1 stands for a group, \& for the match, \\ for a backslash.
func expand(b *strings.Builder, s, with string, m []int) {
	for i := 0; i < len(with); i++ {
		if with[i] != '\\' || i+1 == len(with) {
			b.WriteByte(with[i])
			continue
		}
		i++
		switch c := with[i]; {
		case c == '&':
			b.WriteString(s[m[0]:m[1]])
		case c >= '1' && c <= '9':
			if g := 2 * int(c-'0'); g < len(m) && m[g] >= 0 {
				b.WriteString(s[m[g]:m[g+1]])
			}
		case c == '\\':
			b.WriteByte('\\')
		default:
			b.WriteByte('\\')
			i-- // the character after the backslash is literal
		}
	}
}

func regexpReplace(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	flags := flagsOf(a, 3)
	if flags != "" && flags[0] >= '0' && flags[0] <= '9' {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid regular expression option: \"%s\"", flags[:1]).
			WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
	}
	p, global, err := regex.Compile(a[1].(string), flags)
	if err != nil {
		return nil, err
	}
	n := 1
	if global {
		n = 0
	}
	return replaceMatches(p, a[0].(string), a[2].(string), 0, n)
}

// regexpReplaceFrom implements regexp_replace(text, pattern, replacement, start [, n [, flags]]).
func regexpReplaceFrom(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, start, n := a[0].(string), a[3].(int64), int64(1)
	if len(a) > 4 {
		n = a[4].(int64)
	}
	if err := positive("start", start); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, badValue("n", n)
	}
	p, global, err := regex.Compile(a[1].(string), flagsOf(a, 5))
	if err != nil {
		return nil, err
	}
	if len(a) == 4 && global {
		n = 0
	}
	return replaceMatches(p, s, a[2].(string), startOffset(s, start), int(n))
}

// startOffset returns the byte offset of character start (from 1). Beyond the end it returns an
// offset at which nothing matches.
func startOffset(s string, start int64) int {
	if start > int64(utf8.RuneCountInString(s))+1 {
		return len(s) + 1
	}
	return pgtext.RuneOffset(s, int(start-1))
}

func badValue(name string, n int64) error {
	return pgerror.New(pgerror.InvalidParameterValue, "invalid value for parameter \"%s\": %d", name, n)
}

func positive(name string, n int64) error {
	if n <= 0 {
		return badValue(name, n)
	}
	return nil
}

func regexpLike(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	p, global, err := regex.Compile(a[1].(string), flagsOf(a, 2))
	if err != nil {
		return nil, err
	}
	if global {
		return nil, errGlobal("regexp_like")
	}
	return value.Result(p.Match(a[0].(string)))
}

func regexpCount(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, start := a[0].(string), int64(1)
	if len(a) > 2 {
		start = a[2].(int64)
	}
	if err := positive("start", start); err != nil {
		return nil, err
	}
	p, global, err := regex.Compile(a[1].(string), flagsOf(a, 3))
	if err != nil {
		return nil, err
	}
	if global {
		return nil, errGlobal("regexp_count")
	}
	all, err := p.All(s, startOffset(s, start), -1)
	return int64(len(all)), err
}

// regexpSubstrN implements regexp_substr(text, pattern [, start [, n [, flags [, group]]]]).
func regexpSubstrN(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s := a[0].(string)
	given := [3]int64{1, 1, 0} // start, n, group
	for i, at := range []int{2, 3, 5} {
		if len(a) > at {
			given[i] = a[at].(int64)
		}
	}
	for i, name := range []string{"start", "n"} {
		if err := positive(name, given[i]); err != nil {
			return nil, err
		}
	}
	if given[2] < 0 {
		return nil, badValue("subexpr", given[2])
	}
	p, global, err := regex.Compile(a[1].(string), flagsOf(a, 4))
	if err != nil {
		return nil, err
	}
	if global {
		return nil, errGlobal("regexp_substr")
	}
	all, err := p.All(s, startOffset(s, given[0]), int(min(given[1], int64(utf8.RuneCountInString(s))+2)))
	if err != nil {
		return nil, err
	}
	group := 2 * int(given[2])
	if group == 2 && p.Groups() == 0 {
		group = 0
	}
	if int64(len(all)) < given[1] || group >= len(all[given[1]-1]) || all[given[1]-1][group] < 0 {
		return nil, nil
	}
	m := all[given[1]-1]
	return s[m[group]:m[group+1]], nil
}

func addRegexps(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"textregexeq": matches("", true), "textregexne": matches("", false), "texticregexeq": matches("i", true), "texticregexne": matches("i", false),
		"nameregexeq": matches("", true), "nameregexne": matches("", false), "nameicregexeq": matches("i", true), "nameicregexne": matches("i", false),
		"textregexsubstr": regexpSubstr, "regexp_match": regexpMatch, "regexp_match_no_flags": regexpMatch,
		"regexp_split_to_array": regexpSplit, "regexp_split_to_array_no_flags": regexpSplit,
		"textregexreplace": regexpReplace, "textregexreplace_noopt": regexpReplace, "textregexreplace_extended": regexpReplaceFrom,
		"textregexreplace_extended_no_flags": regexpReplaceFrom, "textregexreplace_extended_no_n": regexpReplaceFrom,
		"regexp_like": regexpLike, "regexp_like_no_flags": regexpLike, "regexp_count": regexpCount, "regexp_count_no_start": regexpCount,
		"regexp_count_no_flags": regexpCount, "regexp_substr": regexpSubstrN, "regexp_substr_no_start": regexpSubstrN,
		"regexp_substr_no_n": regexpSubstrN, "regexp_substr_no_flags": regexpSubstrN, "regexp_substr_no_subexpr": regexpSubstrN,
		"similar_to_escape_1": similarToEscape, "similar_to_escape_2": similarToEscape, "similar_escape": similarToEscape,
		"substring(text,text,text)": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			pattern, err := similarToEscape(env, a[1:])
			if err != nil {
				return nil, err
			}
			return regexpSubstr(env, []value.Datum{a[0], pattern})
		},
	})
	to.Sets(map[string]expr.RowsFunc{
		"regexp_matches": regexpMatches, "regexp_matches_no_flags": regexpMatches,
		"regexp_split_to_table": regexpSplitRows, "regexp_split_to_table_no_flags": regexpSplitRows,
	})
}
