package pgwire

import (
	"encoding/binary"
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The format codes of values.
const (
	textFormat   = 0
	binaryFormat = 1
)

func unsupportedFormat(code int16) error {
	return pgerror.New(pgerror.InvalidParameterValue, "unsupported format code: %d", code)
}

// formatAt returns the format of the value at index i: text if there are no codes; a single code
// applies to all values.
func formatAt(codes []int16, i int) int16 {
	switch len(codes) {
	case 0:
		return textFormat
	case 1:
		return codes[0]
	}
	return codes[i]
}

// formatsOf checks the format codes of results and returns a copy, or nil if all are text.
func formatsOf(codes []int16, columns int) ([]int16, error) {
	if columns > 0 && len(codes) > 1 && len(codes) != columns {
		return nil, pgerror.New(pgerror.ProtocolViolation, "bind message has %d result formats but query has %d columns", len(codes), columns)
	}
	plain := true
	for _, f := range codes {
		if f != textFormat && f != binaryFormat {
			return nil, unsupportedFormat(f)
		}
		plain = plain && f == textFormat
	}
	if plain || columns == 0 {
		return nil, nil
	}
	return slices.Clone(codes), nil
}

// parameterDescription sends the types of parameters. As in PostgreSQL, a count above 65,535 is
// truncated: no Bind can carry that many.
func (c *conn) parameterDescription(types []*value.Type) {
	at := c.out.begin('t')
	c.out.buf = binary.BigEndian.AppendUint16(c.out.buf, uint16(len(types)))
	for _, t := range types {
		c.out.buf = binary.BigEndian.AppendUint32(c.out.buf, t.OID)
	}
	c.out.end(at)
}

// rowDescription sends the columns of a result, or NoData if columns is nil. It returns 22P05 if
// the client's encoding cannot represent a name.
func (c *conn) rowDescription(columns []value.Field, formats []int16) (err error) {
	if columns == nil {
		c.out.bare('n')
		return nil
	}
	at := c.out.begin('T')
	b := binary.BigEndian.AppendUint16(c.out.buf, uint16(len(columns)))
	for i, f := range columns {
		if b, err = c.out.appendText(b, f.Name); err != nil {
			c.out.buf = c.out.buf[:at-1]
			return err
		}
		b = append(b, 0)
		b = binary.BigEndian.AppendUint32(b, f.Origin.Relation)
		b = binary.BigEndian.AppendUint16(b, uint16(f.Origin.Column))
		b = binary.BigEndian.AppendUint32(b, f.Type.OID)
		b = binary.BigEndian.AppendUint16(b, uint16(f.Type.Len))
		b = binary.BigEndian.AppendUint32(b, uint32(f.Mod-1))
		b = binary.BigEndian.AppendUint16(b, uint16(formatAt(formats, i)))
	}
	c.out.buf = b
	c.out.end(at)
	return nil
}

// rows returns a function that sends the rows of a portal to the client. A row that cannot be
// encoded leaves nothing in the output.
func (c *conn) rows(p *sql.Portal) func([]value.Datum) error {
	var set value.Settings
	known := false
	return func(row []value.Datum) error {
		if !known {
			set, known = c.session.Settings(), true
		}
		at := c.out.begin('D')
		if err := c.row(p, row, &set); err != nil {
			c.out.buf = c.out.buf[:at-1]
			return err
		}
		c.out.end(at)
		if c.out.full() {
			return c.out.flush()
		}
		return nil
	}
}

func (c *conn) row(p *sql.Portal, row []value.Datum, set *value.Settings) (err error) {
	b := binary.BigEndian.AppendUint16(c.out.buf, uint16(len(row)))
	for i, d := range row {
		at := len(b)
		b = append(b, 0xff, 0xff, 0xff, 0xff) // NULL
		if d == nil {
			continue
		}
		if t := p.Columns[i].Type; formatAt(p.Formats, i) == textFormat {
			b = value.AppendText(b, t, d, set)
		} else if b, err = value.AppendBinary(b, t, d); err != nil {
			return err
		}
		if c.encoding != nil {
			if b, err = c.encodeValue(b, at+4, p.Columns[i].Type, formatAt(p.Formats, i)); err != nil {
				return err
			}
		}
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	c.out.buf = b
	return nil
}
