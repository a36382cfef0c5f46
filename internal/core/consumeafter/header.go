package consumeafter

import (
	"strings"

	"fiveways.dev/fiveways/internal/core/message"
)

// header is the name of the header.
const header = "consume_after"

// IDs reads the message-ids from an encoded header table; ok is false if the message has no such
// header.
func IDs(headers []byte) (ids []string, ok bool) {
	if len(headers) == 0 {
		return nil, false
	}
	v, ok := message.HeaderLookup(headers, header)
	if !ok {
		return nil, false
	}
	return read(v), true
}

// read reads the value of the header. A value that is not text names no message.
func read(v any) []string {
	switch v := v.(type) {
	case message.Bytes:
		return read(string(v))
	case string:
		if strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}") {
			return arrayLiteral(v[1 : len(v)-1])
		}
		return []string{v}
	case message.Array:
		ids := make([]string, 0, len(v))
		for _, e := range v {
			switch e := e.(type) {
			case string:
				ids = append(ids, e)
			case message.Bytes:
				ids = append(ids, string(e))
			}
		}
		return ids
	}
	return nil
}

// arrayLiteral parses the inside of a PostgreSQL text array: elements separated by commas, bare or
// in double quotes, where a backslash escapes a character.
func arrayLiteral(s string) (ids []string) {
	var b strings.Builder
	quoted, wasQuoted := false, false
	end := func() {
		id := b.String()
		if !wasQuoted {
			if id = strings.TrimSpace(id); strings.EqualFold(id, "null") {
				id = ""
			}
		}
		if id != "" {
			ids = append(ids, id)
		}
		b.Reset()
		wasQuoted = false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '"':
			if quoted = !quoted; quoted {
				b.Reset() // blanks before the quote
			}
			wasQuoted = true
		case c == ',' && !quoted:
			end()
		case !quoted && wasQuoted: // blanks after the quote
		default:
			b.WriteByte(c)
		}
	}
	end()
	return ids
}
