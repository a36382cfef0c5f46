package format

import (
	"fmt"
	"math"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin/number"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// overflowed returns the text for a number that does not fit the format.
func (f *numberFormat) overflowed() string {
	return strings.Repeat("#", f.pre) + "." + strings.Repeat("#", f.post)
}

// fitted formats a number that is already rounded to the format's digits.
func (f *numberFormat) fitted(number string) (value.Datum, error) {
	digits, negative := strings.CutPrefix(number, "-")
	whole, _, _ := strings.Cut(digits, ".")
	if len(whole) > f.pre {
		return f.write(f.overflowed(), negative, 0), nil
	}
	if last := digits[len(digits)-1]; f.ordinal && !negative && !f.decimal && (last < '0' || last > '9') {
		return nil, pgerror.New(pgerror.InvalidText, "\"%s\" is not a number", digits)
	}
	return f.write(digits, negative, f.pre-len(whole)), nil
}

// romanWidth is the width of Roman numerals without FM.
const romanWidth = 15

func (f *numberFormat) romanNumeral(n int64) string {
	text := strings.Repeat("#", romanWidth)
	if n >= 1 && n <= 3999 {
		text = ""
		for _, r := range []struct {
			n    int64
			text string
		}{
			{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
		} {
			for n >= r.n {
				text, n = text+r.text, n-r.n
			}
		}
	}
	for _, node := range f.nodes {
		if node.key == "rn" {
			text = pgtext.LowerASCII(text)
		}
	}
	if f.fill {
		return text
	}
	return fmt.Sprintf("%*s", romanWidth, text)
}

func numericToChar(n numeric.Number, format string) (value.Datum, error) {
	f, err := parseNumberFormat(format)
	if err != nil || format == "" {
		return value.Result("", err)
	}
	switch {
	case f.roman:
		i, err := value.ToInt(n, value.Int4)
		return value.Result(f.romanNumeral(i), err)
	case f.exponent:
		return nil, pgerror.New(pgerror.FeatureNotSupported, "\"EEEE\" is not supported")
	}
	if f.scaled && f.multi > 0 {
		if n, err = n.Mul(numeric.FromFloat(math.Pow10(f.multi), numeric.Float8Digits)); err != nil {
			return nil, err
		}
		f.pre += f.multi
	}
	return f.fitted(n.Round(f.post).String())
}

// floatToChar implements to_char for floats. It limits the digits to the precision of the type.
func floatToChar(t *value.Type) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		v, format := a[0].(float64), a[1].(string)
		f, err := parseNumberFormat(format)
		if err != nil || format == "" {
			return value.Result("", err)
		}
		switch {
		case f.roman:
			return f.romanNumeral(int64(math.RoundToEven(max(min(v, 1e6), -1)))), nil
		case f.exponent:
			return nil, pgerror.New(pgerror.FeatureNotSupported, "\"EEEE\" is not supported")
		}
		if f.scaled {
			v *= math.Pow10(f.multi)
			f.pre += f.multi
		}
		digits := 15
		if t == value.Float4 {
			digits = 6
		}
		whole := len(number.FloatDigits(math.Abs(v), 0))
		if whole >= digits {
			f.post = 0
		} else if whole+f.post > digits {
			f.post = digits - whole
		}
		return f.fitted(number.FloatDigits(v, f.post))
	}
}

// toNumber implements to_number. It takes the digits and the decimal point from the text, ignores
// other characters, and rounds to the digits of the format.
func toNumber(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	text, format := a[0].(string), a[1].(string)
	f, err := parseNumberFormat(format)
	if err != nil || format == "" {
		return nil, err
	}
	if f.roman || f.exponent {
		return nil, pgerror.New(pgerror.FeatureNotSupported, "this format is not supported for input")
	}
	digits, negative := "", strings.Contains(text, "-") || f.bracket && strings.Contains(text, "<")
	point := false
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits += string(r)
		case r == '.' && f.decimal && !point:
			digits, point = digits+".", true
		}
	}
	if digits == "" || digits == "." {
		return nil, pgerror.New(pgerror.InvalidText, "invalid input syntax for type numeric: \"%s\"", " ")
	}
	if negative {
		digits = "-" + digits
	}
	n, err := numeric.Parse(digits)
	if err != nil {
		return nil, err
	}
	if f.scaled {
		return value.Result(n.Div(numeric.FromFloat(math.Pow10(f.multi), numeric.Float8Digits)))
	}
	return n.Round(f.post), nil
}

func addNumberFormats(to expr.Table) {
	ofInt := func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		return numericToChar(numeric.FromInt(a[0].(int64)), a[1].(string))
	}
	to.Calls(map[string]expr.CallFunc{
		"numeric_to_char": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return numericToChar(a[0].(numeric.Number), a[1].(string))
		},
		"int4_to_char": ofInt, "int8_to_char": ofInt, "float4_to_char": floatToChar(value.Float4), "float8_to_char": floatToChar(value.Float8),
		"numeric_to_number": toNumber,
	})
}
