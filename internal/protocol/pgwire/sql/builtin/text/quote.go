package text

import (
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// keywords are the keywords that need quotes as identifiers.
var keywords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char character 
check coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role 
current_schema current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists 
extract false fetch float for foreign freeze from full grant greatest group grouping having ilike in initially inner inout int 
integer intersect interval into is isnull join lateral leading least left like limit localtime localtimestamp national natural 
nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay placing position 
precision primary real references returning right row select session_user setof similar smallint some substring symmetric table 
tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where 
window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`) {
		words[w] = true
	}
	return words
}()

// QuoteIdent quotes an identifier if necessary.
func QuoteIdent(s string) string {
	safe := s != "" && (pgtext.IsLowerASCII(s[0]) || s[0] == '_')
	for i := 0; i < len(s); i++ {
		safe = safe && (pgtext.IsLowerASCII(s[i]) || s[i] == '_' || s[i] >= '0' && s[i] <= '9')
	}
	if safe && !keywords[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// QuoteLiteral quotes a text as an SQL constant.
func QuoteLiteral(s string) string {
	quoted := `'` + strings.ReplaceAll(strings.ReplaceAll(s, `'`, `''`), `\`, `\\`) + `'`
	if strings.Contains(s, `\`) {
		return "E" + quoted
	}
	return quoted
}

// formatArgs are the arguments of format() after the first, with the state of consuming them.
type formatArgs struct {
	env   *expr.Env
	types []*value.Type
	all   []value.Datum
	next  int // the next argument for directives without a number
}

func errFormat(format string, args ...any) error {
	return pgerror.New(pgerror.InvalidParameterValue, format, args...)
}

// take returns argument n, counted from 1; 0 means the next one.
func (f *formatArgs) take(n int) (value.Datum, *value.Type, error) {
	if n > 0 {
		f.next = n - 1
	}
	if f.next >= len(f.all) {
		return nil, nil, errFormat("too few arguments for format()")
	}
	f.next++
	return f.all[f.next-1], f.types[f.next-1], nil
}

// directive is one % directive of a format.
type directive struct {
	arg      int // 0: the next one
	left     bool
	width    int
	indirect bool // the width is an argument
	widthArg int
	verb     byte
}

// parseDirective parses the text after a %.
func parseDirective(s string) (d directive, rest string, err error) {
	ended := errFormat("unterminated format() type specifier").(*pgerror.Error).
		WithHint("For a single \"%%\" use \"%%%%\".")
	n, digits, s := leadingNumber(s)
	widthSeen := false
	if digits && strings.HasPrefix(s, "$") {
		if n == 0 {
			return d, s, errFormat("format specifies argument 0, but arguments are numbered from 1")
		}
		d.arg, s = n, s[1:]
	} else if digits {
		d.width, widthSeen = n, true
	}
	if !widthSeen {
		for strings.HasPrefix(s, "-") {
			d.left, s = true, s[1:]
		}
		if strings.HasPrefix(s, "*") {
			d.indirect, s = true, s[1:]
			if n, digits, after := leadingNumber(s); digits {
				if !strings.HasPrefix(after, "$") {
					return d, s, errFormat("width argument position must be ended by \"$\"")
				}
				if n == 0 {
					return d, s, errFormat("format specifies argument 0, but arguments are numbered from 1")
				}
				d.widthArg, s = n, after[1:]
			}
		} else {
			d.width, _, s = leadingNumber(s)
		}
	}
	if s == "" {
		return d, s, ended
	}
	d.verb = s[0]
	_, size := utf8.DecodeRuneInString(s)
	if !strings.ContainsRune("sIL", rune(d.verb)) {
		return d, s, errFormat("unrecognized format() type specifier \"%s\"", s[:size]).(*pgerror.Error).WithHint("For a single \"%%\" use \"%%%%\".")
	}
	return d, s[1:], nil
}

// maxNumber limits numbers in a format to prevent overflow.
const maxNumber = 1 << 30

func leadingNumber(s string) (n int, any bool, rest string) {
	for s != "" && s[0] >= '0' && s[0] <= '9' {
		n, any, s = min(n*10+int(s[0]-'0'), maxNumber), true, s[1:]
	}
	return n, any, s
}

// formatText implements format().
func formatText(env *expr.Env, text string, types []*value.Type, all []value.Datum) (value.Datum, error) {
	f := &formatArgs{env: env, types: types, all: all}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if strings.HasPrefix(after, "%") {
			b.WriteByte('%')
			text = after[1:]
			continue
		}
		d, rest, err := parseDirective(after)
		if err != nil {
			return nil, err
		}
		if err := f.width(&d); err != nil {
			return nil, err
		}
		shown, err := f.shown(d)
		if err != nil {
			return nil, err
		}
		if b.Len()+d.width > MaxText {
			return nil, ErrTooLong()
		}
		padding := strings.Repeat(" ", max(d.width-utf8.RuneCountInString(shown), 0))
		if d.left {
			b.WriteString(shown + padding)
		} else {
			b.WriteString(padding + shown)
		}
		text = rest
	}
}

func (f *formatArgs) width(d *directive) error {
	if !d.indirect {
		return nil
	}
	v, t, err := f.take(d.widthArg)
	if v == nil || err != nil {
		return err
	}
	if t != value.Int4 && t != value.Int2 {
		if v, err = value.Cast(t, value.Int4, v, -1, true, &f.env.Settings); err != nil {
			return err
		}
	}
	d.width = int(v.(int64))
	if d.width < 0 {
		d.left, d.width = true, -d.width
	}
	return nil
}

func (f *formatArgs) shown(d directive) (string, error) {
	v, t, err := f.take(d.arg)
	if err != nil {
		return "", err
	}
	if v == nil {
		switch d.verb {
		case 'I':
			return "", pgerror.New(pgerror.NullNotAllowed, "null values cannot be formatted as an SQL identifier")
		case 'L':
			return "NULL", nil
		}
		return "", nil
	}
	text := value.String(t, v, &f.env.Settings)
	switch d.verb {
	case 'I':
		return QuoteIdent(text), nil
	case 'L':
		return QuoteLiteral(text), nil
	}
	return text, nil
}

// joined concatenates the texts of the non-NULL values.
func joined(env *expr.Env, sep string, types []*value.Type, all []value.Datum) string {
	var b []byte
	first := true
	for i, v := range all {
		if v == nil {
			continue
		}
		if !first {
			b = append(b, sep...)
		}
		first = false
		b = value.AppendText(b, types[i], v, &env.Settings)
	}
	return string(b)
}

func quoteAny(quote func(string) value.Datum) expr.BindFunc {
	return func(args []*value.Type, _ *value.Type) (expr.Bound, error) {
		return expr.Bound{Call: func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			if a[0] == nil {
				return "NULL", nil
			}
			text, err := asText(args[0], a[0], env)
			if err != nil {
				return nil, err
			}
			return quote(text), nil
		}}, nil
	}
}

func addQuotes(to expr.Table) {
	to.OverAny("text_concat", 0, func(env *expr.Env, _ []value.Datum, types []*value.Type, all []value.Datum) (value.Datum, error) {
		return joined(env, "", types, all), nil
	})
	to.OverAny("text_concat_ws", 1, func(env *expr.Env, fixed []value.Datum, types []*value.Type, all []value.Datum) (value.Datum, error) {
		if fixed[0] == nil {
			return nil, nil
		}
		return joined(env, fixed[0].(string), types, all), nil
	})
	to.OverAny("text_format", 1, func(env *expr.Env, fixed []value.Datum, types []*value.Type, all []value.Datum) (value.Datum, error) {
		if fixed[0] == nil {
			return nil, nil
		}
		return formatText(env, fixed[0].(string), types, all)
	})
	quoted := func(s string) value.Datum { return QuoteLiteral(s) }
	to.Calls(map[string]expr.CallFunc{
		"text_format_nv": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			if a[0] == nil {
				return nil, nil
			}
			return formatText(env, a[0].(string), nil, nil)
		},
		"quote_ident": text1(QuoteIdent), "quote_literal": text1(QuoteLiteral),
	})
	to.Binds(map[string]expr.BindFunc{
		"quote_nullable": quoteAny(quoted), "quote_literal(anyelement)": quoteAny(quoted),
	})
	to.OverAny("pg_num_nulls", 0, func(_ *expr.Env, _ []value.Datum, _ []*value.Type, all []value.Datum) (value.Datum, error) {
		return countNulls(all), nil
	})
	to.OverAny("pg_num_nonnulls", 0, func(_ *expr.Env, _ []value.Datum, _ []*value.Type, all []value.Datum) (value.Datum, error) {
		return int64(len(all)) - countNulls(all), nil
	})
}

func countNulls(all []value.Datum) int64 {
	n := int64(0)
	for _, v := range all {
		if v == nil {
			n++
		}
	}
	return n
}
