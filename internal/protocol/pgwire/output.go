package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

const (
	outBytes     = 8 << 10  // initial size of a buffer
	flushBytes   = 32 << 10 // output is written when it reaches this size
	keepOutBytes = 64 << 10 // larger buffers are not returned to the pool
)

var outBuffers = sync.Pool{New: func() any { b := make([]byte, 0, outBytes); return &b }}

// output buffers messages for the client and writes them together. It holds a buffer only while
// there is something in it.
type output struct {
	nc     net.Conn
	w      io.Writer // to nc
	pooled *[]byte
	buf    []byte
	// encoding is the encoding of texts; nil: UTF-8.
	encoding *charset.Encoding
	err      error // the first write error; nothing is written after it
	// last replaces all output that is not written yet, and nothing follows it; nil: no such error.
	// Any goroutine may set it.
	last atomic.Pointer[pgerror.Error]
}

// errLast is the error of an output that has written its last message.
var errLast = errors.New("pgwire: the connection ends")

// room makes sure that there is a buffer.
func (o *output) room() {
	if o.pooled == nil {
		o.pooled = outBuffers.Get().(*[]byte)
		o.buf = (*o.pooled)[:0]
	}
}

// begin starts a message of the given kind and returns its offset, for end.
func (o *output) begin(kind byte) int {
	o.room()
	o.buf = append(o.buf, kind, 0, 0, 0, 0)
	return len(o.buf) - 4
}

// end finishes the message that begin started at offset at.
func (o *output) end(at int) {
	binary.BigEndian.PutUint32(o.buf[at:], uint32(len(o.buf)-at))
}

// bare adds a message without a body.
func (o *output) bare(kind byte) { o.end(o.begin(kind)) }

// status adds ReadyForQuery.
func (o *output) status(s byte) {
	at := o.begin('Z')
	o.buf = append(o.buf, s)
	o.end(at)
}

// text adds a message whose body is zero-terminated strings.
func (o *output) text(kind byte, parts ...string) {
	at := o.begin(kind)
	for _, s := range parts {
		o.buf = append(o.writable(s), 0)
	}
	o.end(at)
}

// appendText appends s in the client's encoding. It returns 22P05 if the encoding cannot represent
// s.
func (o *output) appendText(b []byte, s string) ([]byte, error) {
	if o.encoding == nil {
		return append(b, clean(s)...), nil
	}
	return o.encoding.Append(b, clean(s))
}

// writable appends s to the buffer, with question marks for characters that the client's encoding
// lacks.
func (o *output) writable(s string) []byte {
	if o.encoding == nil {
		return append(o.buf, s...)
	}
	for _, r := range s {
		b, err := o.encoding.Append(o.buf, string(r))
		if err != nil {
			b = append(o.buf, '?')
		}
		o.buf = b
	}
	return o.buf
}

// message adds a message of pgproto3.
func (o *output) message(m pgproto3.BackendMessage) {
	o.room()
	b, err := m.Encode(o.buf)
	if err != nil { // longer than a message can be
		o.err = err
		return
	}
	o.buf = b
}

// problem adds an ErrorResponse (E) or a NoticeResponse (N). If the client's encoding cannot
// represent the text of an error, the conversion error is sent instead, as in PostgreSQL. A notice
// gets question marks.
func (o *output) problem(kind byte, e *pgerror.Error) {
	severity := e.Severity
	if severity == "" {
		severity = "ERROR"
	}
	at := o.begin(kind)
	var unsaid error
	field := func(code byte, s string) {
		if s == "" {
			return
		}
		b, err := o.appendText(append(o.buf, code), s)
		if err != nil {
			if unsaid == nil {
				unsaid = err
			}
			o.buf = append(o.buf, code)
			b = o.writable(clean(s))
		}
		o.buf = append(b, 0)
	}
	field('S', severity)
	field('V', severity)
	field('C', e.Code)
	field('M', e.Message)
	field('D', e.Detail)
	field('H', e.Hint)
	field('P', position(e.Position))
	field('W', e.Context)
	field('R', e.Routine)
	if told, ok := unsaid.(*pgerror.Error); ok && kind == 'E' {
		o.buf = o.buf[:at-1]
		other := *told
		other.Severity = e.Severity
		o.problem(kind, &other)
		return
	}
	o.buf = append(o.buf, 0)
	o.end(at)
}

// full reports whether the buffered output should be written.
func (o *output) full() bool { return len(o.buf) >= flushBytes }

// flush writes the buffered output and returns the buffer to the pool.
func (o *output) flush() error {
	if o.pooled == nil {
		return o.err
	}
	if o.err == nil {
		last := o.last.Load()
		if last != nil {
			o.buf = o.buf[:0]
			o.problem('E', last)
			protocol.Farewell(o.nc)
		}
		if _, o.err = o.w.Write(o.buf); last != nil {
			o.err = errLast
		}
	}
	if cap(o.buf) <= keepOutBytes {
		*o.pooled = o.buf[:0]
		outBuffers.Put(o.pooled)
	}
	o.pooled, o.buf = nil, nil
	return o.err
}
