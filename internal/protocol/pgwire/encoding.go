package pgwire

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

const clientEncoding = "client_encoding"

// speak switches the connection to the encoding with the given name, a value of client_encoding.
func (c *conn) speak(name string) {
	c.encoding, _ = charset.ByName(name) // the setting accepts no other names
	c.out.encoding = c.encoding
}

// decodeParameter converts a parameter of a Bind to UTF-8.
func (c *conn) decodeParameter(t *value.Type, format int16, b []byte) ([]byte, error) {
	if t == value.RecordT || t.Elem == value.RecordT {
		return b, nil // records cannot be parsed from input anyway
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

// encodeValue converts a result value to the client's encoding. The value is in UTF-8 and is the
// part of b that begins at at.
func (c *conn) encodeValue(b []byte, at int, t *value.Type, format int16) ([]byte, error) {
	if format == textFormat {
		text := string(b[at:])
		return c.encoding.Append(b[:at], text)
	}
	made, err := value.RecodeBinary(t, b[at:], func(b []byte) ([]byte, error) { return c.encoding.Append(nil, string(b)) })
	return append(b[:at], made...), err
}
