package value

import (
	"strings"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

func malformedRecord(s, detail string) error {
	return pgerror.New(pgerror.InvalidText, "malformed record literal: \"%s\"", s).WithDetail("%s", detail)
}

// parseRecord parses the text format of a composite type: (1,,"a b").
func parseRecord(t *Type, s string, set *Settings) (Datum, error) {
	body := strings.TrimLeft(s, pgtext.Spaces)
	if !strings.HasPrefix(body, "(") {
		return nil, malformedRecord(s, "Missing left parenthesis.")
	}
	rest := body[1:]
	record := make(Record, len(t.Fields))
	for i, f := range t.Fields {
		if i > 0 {
			if !strings.HasPrefix(rest, ",") {
				return nil, malformedRecord(s, "Too few columns.")
			}
			rest = rest[1:]
		}
		if rest == "" {
			return nil, malformedRecord(s, "Unexpected end of input.")
		}
		if rest[0] == ',' || rest[0] == ')' {
			continue
		}
		text, after, ok := recordField(rest)
		if !ok {
			return nil, malformedRecord(s, "Unexpected end of input.")
		}
		d, err := Parse(f.Type, text, set)
		if err != nil {
			return nil, err
		}
		record[i], rest = d, after
	}
	switch {
	case strings.HasPrefix(rest, ","):
		return nil, malformedRecord(s, "Too many columns.")
	case strings.TrimLeft(rest[1:], pgtext.Spaces) != "":
		return nil, malformedRecord(s, "Junk after right parenthesis.")
	}
	return record, nil
}

// recordField parses up to the comma or parenthesis that ends a field. Parts of the field may be
// quoted.
func recordField(s string) (text, rest string, ok bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			b.WriteByte(s[i])
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			b.WriteByte('"')
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ')'):
			return b.String(), s[i:], true
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

func appendRecord(dst []byte, t *Type, r Record, set *Settings) []byte {
	dst = append(dst, '(')
	for i, d := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		if d == nil {
			continue
		}
		text := String(fieldType(t, i, d), d, set)
		if text != "" && !strings.ContainsAny(text, `"\(),`+pgtext.Spaces) {
			dst = append(dst, text...)
			continue
		}
		dst = append(dst, '"')
		for j := range len(text) {
			if text[j] == '"' || text[j] == '\\' {
				dst = append(dst, text[j])
			}
			dst = append(dst, text[j])
		}
		dst = append(dst, '"')
	}
	return append(dst, ')')
}

// fieldType returns the type of field i of a row. If it is unknown, it returns a type with values
// such as d.
func fieldType(t *Type, i int, d Datum) *Type {
	if i < len(t.Fields) {
		return t.Fields[i].Type
	}
	switch d := d.(type) {
	case int64:
		if int64(int32(d)) == d {
			return Int4
		}
		return Int8
	case bool:
		return Bool
	case float64:
		return Float8
	case numeric.Number:
		return NumericType
	case hstore.Map:
		return Hstore
	case []byte:
		return Bytea
	case *Array:
		return ArrayOf(d.Elem)
	case Record:
		return RecordT
	case temporal.TimestampTZ:
		return TimestampTZType
	}
	return Text
}
