package text

import (
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// MaxText is the maximum length in bytes of a text that a function returns.
const MaxText = 256 << 20

// ErrTooLong returns the error for a text longer than MaxText.
func ErrTooLong() error {
	return pgerror.New(pgerror.ProgramLimitExceeded, "requested length too large")
}

func text1(f func(string) string) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(string)), nil }
}

func text2(f func(s, t string) string) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(string), a[1].(string)), nil }
}

func textInt(f func(string) int) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return int64(f(a[0].(string))), nil }
}

// span converts SQL's start (from 1) and length to a start (from 0) and an end, clamped to 0. The
// end -1 stands for the end of the text.
func span(a []value.Datum) (from, to int64, err error) {
	start := a[1].(int64)
	if len(a) < 3 {
		return max(start, 1) - 1, -1, nil
	}
	length := a[2].(int64)
	if length < 0 {
		return 0, 0, pgerror.New("22011", "negative substring length not allowed")
	}
	return max(start, 1) - 1, max(start+length, 1) - 1, nil
}

func substr(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	from, to, err := span(a)
	if err != nil {
		return nil, err
	}
	s := a[0].(string)
	if to >= 0 {
		s = s[:pgtext.RuneOffset(s, int(to))]
	}
	return s[min(pgtext.RuneOffset(s, int(from)), len(s)):], nil
}

func overlay(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, with, start := a[0].(string), a[1].(string), a[2].(int64)
	length := int64(utf8.RuneCountInString(with))
	if len(a) > 3 {
		length = a[3].(int64)
	}
	if start <= 0 {
		return nil, pgerror.New("22011", "negative substring length not allowed")
	}
	if !value.FitsInt(value.Int4, start+length) {
		return nil, value.ErrOutOfRange(value.Int4)
	}
	return s[:pgtext.RuneOffset(s, int(start-1))] + with + s[pgtext.RuneOffset(s, int(start+length-1)):], nil
}

func left(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, n := a[0].(string), int(a[1].(int64))
	if n < 0 {
		n = max(utf8.RuneCountInString(s)+n, 0)
	}
	return s[:pgtext.RuneOffset(s, n)], nil
}

func right(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, n := a[0].(string), int(a[1].(int64))
	if n < 0 {
		n = -n
	} else {
		n = max(utf8.RuneCountInString(s)-n, 0)
	}
	return s[pgtext.RuneOffset(s, n):], nil
}

func repeat(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, n := a[0].(string), max(a[1].(int64), 0)
	if int64(len(s))*n > MaxText {
		return nil, ErrTooLong()
	}
	return strings.Repeat(s, int(n)), nil
}

func reverse(s string) string {
	b := make([]byte, 0, len(s))
	for len(s) > 0 {
		_, size := utf8.DecodeLastRuneInString(s)
		b = append(b, s[len(s)-size:]...)
		s = s[:len(s)-size]
	}
	return string(b)
}

func pad(onLeft bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		s, n, fill := a[0].(string), max(a[1].(int64), 0), " "
		if len(a) > 2 {
			fill = a[2].(string)
		}
		if n*4 > MaxText {
			return nil, ErrTooLong()
		}
		missing := int(n) - utf8.RuneCountInString(s)
		if missing <= 0 || fill == "" {
			return s[:pgtext.RuneOffset(s, int(n))], nil
		}
		padding := strings.Repeat(fill, missing/utf8.RuneCountInString(fill)+1)
		padding = padding[:pgtext.RuneOffset(padding, missing)]
		if onLeft {
			return padding + s, nil
		}
		return s + padding, nil
	}
}

// trim removes the characters of a set, by default spaces, from the given sides.
func trim(onLeft, onRight bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		s, set := a[0].(string), " "
		if len(a) > 1 {
			set = a[1].(string)
		}
		if onLeft {
			s = strings.TrimLeft(s, set)
		}
		if onRight {
			s = strings.TrimRight(s, set)
		}
		return s, nil
	}
}

func replace(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, from, to := a[0].(string), a[1].(string), a[2].(string)
	if from == "" {
		return s, nil
	}
	if n := strings.Count(s, from); len(s)+n*(len(to)-len(from)) > MaxText {
		return nil, ErrTooLong()
	}
	return strings.ReplaceAll(s, from, to), nil
}

func translate(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	from, to := []rune(a[1].(string)), []rune(a[2].(string))
	return strings.Map(func(r rune) rune {
		for i, f := range from {
			if f != r {
				continue
			}
			if i < len(to) {
				return to[i]
			}
			return -1
		}
		return r
	}, a[0].(string)), nil
}

// position returns the position of sub in s, in characters from 1, or 0 if s does not contain sub.
func position(s, sub string) int {
	i := strings.Index(s, sub)
	if i < 0 {
		return 0
	}
	return utf8.RuneCountInString(s[:i]) + 1
}

func splitPart(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	s, sep, n := a[0].(string), a[1].(string), a[2].(int64)
	if n == 0 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "field position must not be zero")
	}
	parts := []string{s}
	switch {
	case s == "":
		return "", nil
	case sep != "":
		parts = strings.Split(s, sep)
	}
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return "", nil
	}
	return parts[n-1], nil
}

func ascii(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return 0
	}
	return int(r)
}

func chr(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	n := a[0].(int64)
	switch {
	case n == 0:
		return nil, pgerror.New(pgerror.ProgramLimitExceeded, "null character not permitted")
	case n < 0:
		return nil, pgerror.New(pgerror.InvalidParameterValue, "character number must be positive")
	case n > utf8.MaxRune:
		return nil, pgerror.New(pgerror.ProgramLimitExceeded, "requested character too large for encoding: %d", n)
	case !utf8.ValidRune(rune(n)):
		return nil, pgerror.New(pgerror.ProgramLimitExceeded, "requested character not valid for encoding: %d", n)
	}
	return string(rune(n)), nil
}

// withoutPadding returns a char(n) value without its trailing spaces.
func withoutPadding(s string) string { return strings.TrimRight(s, " ") }

// asText implements x::text, which for some types differs from the display format: true, not t.
func asText(t *value.Type, d value.Datum, env *expr.Env) (string, error) {
	if t == value.Text || t == value.Unknown {
		return d.(string), nil
	}
	text, err := value.Cast(t, value.Text, d, -1, true, &env.Settings)
	if err != nil {
		return "", err
	}
	return text.(string), nil
}

func textAndAny(args []*value.Type, _ *value.Type) (expr.Bound, error) {
	return expr.Bound{Call: func(env *expr.Env, a []value.Datum) (value.Datum, error) {
		l, err := asText(args[0], a[0], env)
		if err != nil {
			return nil, err
		}
		r, err := asText(args[1], a[1], env)
		return l + r, err
	}}, nil
}

func addTexts(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"textcat": text2(func(s, t string) string { return s + t }), "textlen": textInt(utf8.RuneCountInString),
		"bpcharlen":    textInt(func(s string) int { return utf8.RuneCountInString(withoutPadding(s)) }),
		"textoctetlen": textInt(func(s string) int { return len(s) }), "bpcharoctetlen": textInt(func(s string) int { return len(s) }),
		"bit_length(text)": textInt(func(s string) int { return 8 * len(s) }),
		"lower":            text1(pgtext.Lower), "upper": text1(pgtext.Upper), "initcap": text1(pgtext.Initcap), "text_reverse": text1(reverse),
		"text_substr": substr, "text_substr_no_len": substr, "textoverlay": overlay, "textoverlay_no_len": overlay,
		"text_left": left, "text_right": right, "repeat": repeat, "lpad": pad(true), "rpad": pad(false),
		"btrim": trim(true, true), "btrim1": trim(true, true), "ltrim": trim(true, false), "ltrim1": trim(true, false),
		"rtrim": trim(false, true), "rtrim1": trim(false, true),
		"replace_text": replace, "translate": translate, "split_part": splitPart, "ascii": textInt(ascii), "chr": chr,
		"textpos": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return int64(position(a[0].(string), a[1].(string))), nil
		},
		"text_starts_with": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return strings.HasPrefix(a[0].(string), a[1].(string)), nil
		},
		"text_larger": text2(func(s, t string) string { return max(s, t) }), "text_smaller": text2(func(s, t string) string { return min(s, t) }),
	})
	to.Binds(map[string]expr.BindFunc{"textanycat": textAndAny, "anytextcat": textAndAny})
}
