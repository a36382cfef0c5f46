package sql

import (
	"bytes"
	"io"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// copyInput is the text data from a client, converted to UTF-8.
type copyInput struct {
	from     Copier
	encoding *charset.Encoding // nil: UTF-8
	limit    int               // bytes of a piece

	raw  []byte // received data; the part before at has been returned
	at   int
	over bool // no more data

	failed error // returned by the next call
}

// piece returns the text up to the next line terminator or, at the end, the rest; then io.EOF. The
// split is safe because in no encoding does a character end in such a byte. The result is valid
// until the next call. Errors: 22021, 22P05, 54000, and those of Copier.
func (c *copyInput) piece() ([]byte, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	for seen := c.at; ; {
		if i := bytes.IndexAny(c.raw[seen:], "\r\n"); i >= 0 {
			return c.give(seen + i + 1)
		}
		if c.over {
			if c.at == len(c.raw) {
				return nil, io.EOF
			}
			return c.give(len(c.raw))
		}
		if len(c.raw)-c.at > c.limit {
			return nil, pgerror.New(pgerror.ProgramLimitExceeded, "a line of COPY is longer than %d bytes", c.limit)
		}
		c.raw = c.raw[:copy(c.raw, c.raw[c.at:])]
		c.at, seen = 0, len(c.raw)
		b, err := c.from.CopyPiece()
		if err == io.EOF {
			c.over = true
		} else if err != nil {
			return nil, err
		}
		c.raw = append(c.raw, b...)
	}
}

// give returns the received data up to end. If it contains an error, the data before the error is
// returned first.
func (c *copyInput) give(end int) ([]byte, error) {
	b := c.raw[c.at:end]
	c.at = end
	if c.encoding != nil {
		var text string
		text, c.failed = c.encoding.Decode(string(b))
		b = []byte(text)
	} else if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		var n int
		n, c.failed = charset.ValidPrefix(string(b))
		b = b[:n]
	}
	if len(b) == 0 {
		return nil, c.failed
	}
	return b, nil
}

// drain discards the remaining data.
func (c *copyInput) drain() error {
	for !c.over {
		switch _, err := c.from.CopyPiece(); err {
		case nil:
		case io.EOF:
			c.over = true
		default:
			return err
		}
	}
	return nil
}
