package sql

import (
	"bytes"
	"io"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// copyInput is the texts that a client sends, in UTF-8.
type copyInput struct {
	from     Copier
	encoding *charset.Encoding // nil: UTF-8
	limit    int               // bytes of a piece

	raw  []byte // has come; what is before at was given away
	at   int
	over bool // nothing more comes

	failed error // comes next
}

// piece returns the texts up to the next end of a line, or what is left at the end; then io.EOF. No
// encoding has a character that ends in such a byte. It is valid until the next call. Errors:
// 22021, 22P05, 54000, those of Copier.
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

// give gives away what has come up to end. What is before an error comes before the error.
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

// drain reads to the end and drops it.
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
