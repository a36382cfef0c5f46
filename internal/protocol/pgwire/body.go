package pgwire

import (
	"bytes"
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// body reads the fields of a message. Its errors have the texts of PostgreSQL's pqformat.c.
type body struct {
	codec.Reader
	encoding *charset.Encoding // of texts; nil: UTF-8
}

// newBody returns a reader of the body of a message.
func (c *conn) newBody(m incoming) *body {
	r := &body{encoding: c.encoding}
	r.Reset(m.body)
	return r
}

func (r *body) fail(text string) { r.Fail(pgerror.New(pgerror.ProtocolViolation, "%s", text)) }

func (r *body) byte() byte {
	if r.Len() == 0 {
		r.fail("no data left in message")
	}
	return r.Uint8()
}

func (r *body) int32() int32 { return int32(r.Uint32()) }

// text reads a zero-terminated string and returns it in UTF-8. Text that is invalid in the client's
// encoding is an error.
func (r *body) text() string {
	end := bytes.IndexByte(r.Rest(), 0)
	if end < 0 {
		r.fail("invalid string in message")
		return ""
	}
	text, err := string(r.Bytes(end + 1)[:end]), error(nil)
	if r.encoding != nil {
		text, err = r.encoding.Decode(text)
	} else {
		err = charset.Valid(text)
	}
	if err != nil {
		r.Fail(err)
		return ""
	}
	return text
}

// value reads a length and that many bytes, which alias the message. The length -1 stands for null.
func (r *body) value() (b []byte, null bool) {
	n := r.int32()
	if n == -1 {
		return nil, true
	}
	return r.Bytes(int(n)), false
}

// formats reads a count and that many format codes.
func (r *body) formats() []int16 {
	b := r.Bytes(2 * int(r.Uint16()))
	if len(b) == 0 {
		return nil
	}
	codes := make([]int16, len(b)/2)
	for i := range codes {
		codes[i] = int16(binary.BigEndian.Uint16(b[2*i:]))
	}
	return codes
}

// types reads a count and that many OIDs of types.
func (r *body) types() []uint32 {
	b := r.Bytes(4 * int(r.Uint16()))
	if len(b) == 0 {
		return nil
	}
	oids := make([]uint32, len(b)/4)
	for i := range oids {
		oids[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	return oids
}

// Err returns the first error.
func (r *body) Err() error {
	if r.Reader.Err() == nil {
		return nil
	}
	return worded(r.Reader.Err())
}

// end returns the first error. Bytes left after the last field are an error.
func (r *body) end() error { return worded(r.End()) }

func worded(err error) error {
	switch err {
	case codec.ErrTruncated:
		return pgerror.New(pgerror.ProtocolViolation, "insufficient data left in message")
	case codec.ErrTrailing:
		return pgerror.New(pgerror.ProtocolViolation, "invalid message format")
	}
	return err
}
