package pgwire

import (
	"encoding/binary"
	"errors"
	"io"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// errLeft ends a COPY whose client has disconnected or whose connection is ending.
var errLeft = errors.New("pgwire: the connection ends")

// copyResponse tells the client that a COPY begins. All columns have the same format.
func (c *conn) copyResponse(kind byte, columns int, binaryForm bool) {
	format := byte(textFormat)
	if binaryForm {
		format = binaryFormat
	}
	at := c.out.begin(kind)
	c.out.buf = append(c.out.buf, format)
	c.out.buf = binary.BigEndian.AppendUint16(c.out.buf, uint16(columns))
	for range columns {
		c.out.buf = append(c.out.buf, 0, format)
	}
	c.out.end(at)
}

// CopyOut implements sql.Copier.
func (c *conn) CopyOut(columns int, binaryForm bool) error {
	c.copyResponse('H', columns, binaryForm)
	return c.out.err
}

// CopyData implements sql.Copier.
func (c *conn) CopyData(b []byte) error {
	at := c.out.begin('d')
	c.out.buf = append(c.out.buf, b...)
	c.out.end(at)
	if c.out.full() {
		return c.out.flush()
	}
	return nil
}

// CopyOutEnd implements sql.Copier.
func (c *conn) CopyOutEnd() error {
	c.out.bare('c')
	return c.out.err
}

// CopyIn implements sql.Copier.
func (c *conn) CopyIn(columns int, binaryForm bool) error {
	c.copyResponse('G', columns, binaryForm)
	return c.out.flush()
}

// CopyLimit implements sql.Copier.
func (c *conn) CopyLimit() int { return c.in.limit }

// CopyPiece implements sql.Copier. It ignores Sync and Flush, which a pipelining client sends
// without waiting.
func (c *conn) CopyPiece() ([]byte, error) {
	for {
		m, ok := c.receive()
		if !ok {
			c.over = true
			return nil, errLeft
		}
		switch m.kind {
		case 'd':
			if len(m.body) > 0 {
				return m.body, nil
			}
		case 'c':
			return nil, io.EOF
		case 'f':
			r := c.newBody(m)
			why := r.text()
			if err := r.end(); err != nil {
				return nil, err
			}
			return nil, pgerror.New(pgerror.QueryCanceled, "COPY from stdin failed: %s", why)
		case 'H', 'S':
		default:
			c.linger, c.over = true, true
			c.last = fatal(pgerror.ProtocolViolation, "terminating connection because protocol synchronization was lost")
			return nil, pgerror.New(pgerror.ProtocolViolation, "unexpected message type 0x%02X during COPY from stdin", m.kind)
		}
	}
}
