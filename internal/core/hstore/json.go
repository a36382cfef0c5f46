package hstore

import (
	"fmt"
	"regexp"
)

var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// AppendJSON appends the value as a JSON object of strings and nulls (hstore_to_json). If loose,
// texts that look like numbers or the booleans t and f are written as such (hstore_to_json_loose).
func (m Map) AppendJSON(dst []byte, loose bool) []byte {
	dst = append(dst, '{')
	for i, p := range m {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendJSONString(dst, p.Key)
		dst = append(dst, ": "...)
		switch {
		case p.Null:
			dst = append(dst, "null"...)
		case loose && p.Value == "t":
			dst = append(dst, "true"...)
		case loose && p.Value == "f":
			dst = append(dst, "false"...)
		case loose && number.MatchString(p.Value):
			dst = append(dst, p.Value...)
		default:
			dst = AppendJSONString(dst, p.Value)
		}
	}
	return append(dst, '}')
}

// AppendJSONString appends s as a JSON string, with only the escapes that PostgreSQL uses.
func AppendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '"', '\\':
			dst = append(dst, '\\', c)
		default:
			if c < ' ' {
				dst = fmt.Appendf(dst, `\u%04x`, c)
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
