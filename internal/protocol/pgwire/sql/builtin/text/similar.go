package text

import (
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// similarToEscape converts a pattern of SIMILAR TO to a regular expression. The default escape
// character is the backslash; an empty escape disables escaping.
func similarToEscape(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	if a[0] == nil {
		return nil, nil
	}
	escape := `\`
	if len(a) > 1 && a[1] != nil {
		escape = a[1].(string)
	}
	if utf8.RuneCountInString(escape) > 1 {
		return nil, pgerror.New("22025", "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	return similar(a[0].(string), escape)
}

func similar(in, escape string) (value.Datum, error) {
	var b strings.Builder
	b.WriteString("^(?:")
	escaped, separators, inClass := false, 0, 0
	for _, r := range in {
		s := string(r)
		switch {
		case escaped:
			if s == `"` && inClass == 0 { // escape-double-quote separates the parts of SUBSTRING ... SIMILAR
				switch separators {
				case 0:
					b.WriteString("){1,1}?(")
				case 1:
					b.WriteString("){1,1}(?:")
				default:
					return nil, pgerror.New("2200C", "SQL regular expression may not contain more than two escape-double-quote separators")
				}
				separators++
			} else {
				b.WriteString(`\` + s)
			}
			escaped = false
		case s == escape:
			escaped = true
		case inClass > 0:
			if s == `\` {
				b.WriteString(`\`)
			}
			b.WriteString(s)
			if s == "]" {
				inClass = 0
			}
		case s == "[":
			b.WriteString(s)
			inClass = 1
		case s == "%":
			b.WriteString(".*")
		case s == "_":
			b.WriteString(".")
		case s == "(":
			b.WriteString("(?:")
		case strings.Contains(`\.^$`, s):
			b.WriteString(`\` + s)
		default:
			b.WriteString(s)
		}
	}
	b.WriteString(")$")
	return b.String(), nil
}
