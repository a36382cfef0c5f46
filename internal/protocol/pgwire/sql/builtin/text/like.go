package text

import (
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// likeResult is the result of a match. stopped means that the text ended before the pattern, so
// that no later start can match either.
type likeResult byte

const (
	unlike likeResult = iota
	alike
	stopped
)

func errLikeEscape() error {
	return pgerror.New("22025", "LIKE pattern must not end with escape character")
}

// like matches s against a LIKE pattern. It follows PostgreSQL's MatchText, so that errors occur in
// the same cases.
func like(s, pattern string) (likeResult, error) {
	for s != "" && pattern != "" {
		switch pattern[0] {
		case '\\':
			pattern = pattern[1:]
			if pattern == "" {
				return unlike, errLikeEscape()
			}
		case '%':
			return likeRest(s, pattern[1:])
		case '_':
			_, size := utf8.DecodeRuneInString(s)
			s, pattern = s[size:], pattern[1:]
			continue
		}
		if s[0] != pattern[0] {
			return unlike, nil
		}
		s, pattern = s[1:], pattern[1:]
	}
	if s != "" {
		return unlike, nil
	}
	if strings.Trim(pattern, "%") == "" {
		return alike, nil
	}
	return stopped, nil
}

// likeRest matches the rest of a pattern after a %.
func likeRest(s, pattern string) (likeResult, error) {
	for pattern != "" && (pattern[0] == '%' || pattern[0] == '_') {
		if pattern[0] == '_' {
			if s == "" {
				return stopped, nil
			}
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
		}
		pattern = pattern[1:]
	}
	if pattern == "" {
		return alike, nil
	}
	first := pattern[0]
	if first == '\\' {
		if len(pattern) < 2 {
			return unlike, errLikeEscape()
		}
		first = pattern[1]
	}
	for s != "" {
		if s[0] == first {
			if matched, err := like(s, pattern); matched != unlike || err != nil {
				return matched, err
			}
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return stopped, nil
}

func liken(fold, want bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		s, pattern := a[0].(string), a[1].(string)
		if fold {
			s, pattern = pgtext.Lower(s), pgtext.Lower(pattern)
		}
		matched, err := like(s, pattern)
		if err != nil {
			return nil, err
		}
		return (matched == alike) == want, nil
	}
}

func likenBytes(want bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		matched, err := like(string(a[0].([]byte)), string(a[1].([]byte)))
		if err != nil {
			return nil, err
		}
		return (matched == alike) == want, nil
	}
}

// likeEscape rewrites a pattern with a custom escape character to one with the backslash.
func likeEscape(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	pattern, escape := a[0].(string), a[1].(string)
	if escape == "" {
		return strings.ReplaceAll(pattern, `\`, `\\`), nil
	}
	if utf8.RuneCountInString(escape) != 1 {
		return nil, pgerror.New("22025", "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	if escape == `\` {
		return pattern, nil
	}
	var b strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case string(r) == escape && !escaped:
			b.WriteByte('\\')
			escaped = true
		case r == '\\' && !escaped:
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
			escaped = false
		}
	}
	return b.String(), nil
}

func addLikes(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"textlike": liken(false, true), "textnlike": liken(false, false), "texticlike": liken(true, true), "texticnlike": liken(true, false),
		"namelike": liken(false, true), "namenlike": liken(false, false), "nameiclike": liken(true, true), "nameicnlike": liken(true, false),
		"bytealike": likenBytes(true), "byteanlike": likenBytes(false), "like_escape": likeEscape,
	})
}
