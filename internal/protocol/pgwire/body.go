package pgwire

import (
	"bytes"
	"encoding/binary"

	"fiveways/internal/protocol/pgwire/charset"
	"fiveways/internal/protocol/pgwire/pgerror"
)

// body reads the fields of a message, one after the other. The first failure sticks: what is read
// after it is zero, and end returns it. Errors are those of PostgreSQL's pqformat.c, in its words.
type body struct {
	b        []byte
	encoding *charset.Encoding // of texts; nil: UTF-8
	err      error
}

func (r *body) fail(text string) {
	if r.err == nil {
		r.err = pgerror.New(pgerror.ProtocolViolation, "%s", text)
	}
	r.b = nil
}

// take reads n bytes, which alias the message.
func (r *body) take(n int) []byte {
	if n < 0 || n > len(r.b) || r.err != nil {
		r.fail("insufficient data left in message")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *body) byte() byte {
	if len(r.b) == 0 {
		r.fail("no data left in message")
		return 0
	}
	return r.take(1)[0]
}

func (r *body) uint16() int {
	b := r.take(2)
	if b == nil {
		return 0
	}
	return int(binary.BigEndian.Uint16(b))
}

func (r *body) int32() int32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// text reads up to a zero byte, in UTF-8. Text that the client's encoding does not have is an
// error.
func (r *body) text() string {
	end := bytes.IndexByte(r.b, 0)
	if end < 0 {
		r.fail("invalid string in message")
		return ""
	}
	text, err := string(r.take(end + 1)[:end]), error(nil)
	if r.encoding != nil {
		text, err = r.encoding.Decode(text)
	} else {
		err = charset.Valid(text)
	}
	if err != nil {
		r.b, r.err = nil, err
		return ""
	}
	return text
}

// value reads a length and as many bytes, which alias the message; null: the length was -1.
func (r *body) value() (b []byte, null bool) {
	n := r.int32()
	if n == -1 {
		return nil, true
	}
	return r.take(int(n)), false
}

// formats reads a count and as many format codes.
func (r *body) formats() []int16 {
	b := r.take(2 * r.uint16())
	if len(b) == 0 {
		return nil
	}
	codes := make([]int16, len(b)/2)
	for i := range codes {
		codes[i] = int16(binary.BigEndian.Uint16(b[2*i:]))
	}
	return codes
}

// types reads a count and as many OIDs of types.
func (r *body) types() []uint32 {
	b := r.take(4 * r.uint16())
	if len(b) == 0 {
		return nil
	}
	oids := make([]uint32, len(b)/4)
	for i := range oids {
		oids[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	return oids
}

// end returns the first failure, which may be that something is left.
func (r *body) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("invalid message format")
	}
	return r.err
}
