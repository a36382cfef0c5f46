package pgwire

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

const clientEncoding = "client_encoding"

// speak makes the connection go on in the encoding of a name that the setting client_encoding has.
func (c *conn) speak(name string) {
	c.encoding, _ = charset.ByName(name) // the setting takes no other names
	c.out.encoding = c.encoding
}

// decodeParameter turns a parameter of a Bind into UTF-8.
func (c *conn) decodeParameter(t *value.Type, format int16, b []byte) ([]byte, error) {
	if t == value.RecordT || t.Elem == value.RecordT {
		return b, nil // cannot be read anyway
	}
	if format == binaryFormat {
		return value.RecodeBinary(t, b, func(b []byte) ([]byte, error) {
			s, err := c.encoding.Decode(string(b))
			return []byte(s), err
		})
	}
	s, err := c.encoding.Decode(string(b))
	return []byte(s), err
}

// encodeValue turns a value of a result, which stands in UTF-8 at the end of b from at on, into the
// client's encoding.
func (c *conn) encodeValue(b []byte, at int, t *value.Type, format int16) ([]byte, error) {
	if format == textFormat {
		text := string(b[at:])
		return c.encoding.Append(b[:at], text)
	}
	made, err := value.RecodeBinary(t, b[at:], func(b []byte) ([]byte, error) { return c.encoding.Append(nil, string(b)) })
	return append(b[:at], made...), err
}
