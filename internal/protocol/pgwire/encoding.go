package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways/internal/protocol/pgwire/charset"
	"fiveways/internal/protocol/pgwire/sql/value"
)

const clientEncoding = "client_encoding"

// speak makes the connection go on in the encoding of a name that the setting client_encoding has.
func (c *conn) speak(name string) {
	c.encoding, _ = charset.ByName(name) // the setting takes no other names
	c.out.encoding = c.encoding
}

// decode turns the texts of a message from the client's encoding into UTF-8. Parameters wait for their types.
func (c *conn) decode(m pgproto3.FrontendMessage) (err error) {
	take := func(texts ...*string) {
		for _, s := range texts {
			if err == nil {
				*s, err = c.encoding.Decode(*s)
			}
		}
	}
	switch m := m.(type) {
	case *pgproto3.Query:
		take(&m.String)
	case *pgproto3.Parse:
		take(&m.Name, &m.Query)
	case *pgproto3.Bind:
		take(&m.DestinationPortal, &m.PreparedStatement)
	case *pgproto3.Describe:
		take(&m.Name)
	case *pgproto3.Execute:
		take(&m.Portal)
	case *pgproto3.Close:
		take(&m.Name)
	}
	return err
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

// encodeValue turns a value of a result, which stands in UTF-8 at the end of b from at on, into the client's encoding.
func (c *conn) encodeValue(b []byte, at int, t *value.Type, format int16) ([]byte, error) {
	if format == textFormat {
		text := string(b[at:])
		return c.encoding.Append(b[:at], text)
	}
	made, err := value.RecodeBinary(t, b[at:], func(b []byte) ([]byte, error) { return c.encoding.Append(nil, string(b)) })
	return append(b[:at], made...), err
}
