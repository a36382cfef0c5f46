package respwire

import (
	"bytes"
	"fmt"
)

// Limits of any request. Redis has the same figures.
const (
	maxArgs = 1 << 20
	maxLine = 64 << 10 // of an inline request, and of a line with a count or a length
)

// What a client may send before it is logged in.
const (
	strangerArgs = 10
	strangerBulk = 16 << 10
)

// ProtocolError is a request that makes no sense: where the next one begins is not known any more.
type ProtocolError string

func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

// Limits bound what a request may need.
type Limits struct {
	Bulk    int // bytes of one argument
	Request int // bytes of a whole request
}

// Parser finds requests in what a client sent.
type Parser struct {
	Limits   Limits
	Stranger bool // the client is not logged in: it may send little

	// The request at hand, as far as it was there the last time. Places are relative to its first
	// byte.
	left  int    // arguments that are still to come, 0: it has not begun
	pos   int    // all before it has been looked at
	bulk  int    // length of the argument at pos, -1: its length is not known yet
	spans []span // arguments found
}

// span is where an argument lies.
type span struct{ from, to int }

// Next finds the request at the beginning of b, which must be the same place until a request was
// found: n is its length, 0 while more of it is needed. Its arguments are appended to dst; they are
// slices of b, or of their own when they were quoted. A request may have none: then there is
// nothing to answer. The error is a ProtocolError.
func (p *Parser) Next(b []byte, dst [][]byte) (args [][]byte, n int, err error) {
	if p.left == 0 {
		if len(b) == 0 {
			return dst, 0, nil
		}
		if b[0] != '*' {
			return p.inline(b, dst)
		}
		line, next, err := lineAt(b, 1, "too big mbulk count string")
		if next == 0 {
			return dst, 0, err
		}
		count, ok := number(line)
		switch {
		case !ok || count > maxArgs:
			return dst, 0, ProtocolError("invalid multibulk length")
		case count > strangerArgs && p.Stranger:
			return dst, 0, ProtocolError("unauthenticated multibulk length")
		case count <= 0:
			return dst, next, nil
		}
		p.left, p.pos, p.bulk, p.spans = int(count), next, -1, p.spans[:0]
	}
	for p.left > 0 {
		if whole, err := p.argument(b); !whole {
			return dst, 0, err
		}
	}
	for _, s := range p.spans {
		dst = append(dst, b[s.from:s.to:s.to])
	}
	n = p.pos
	p.pos = 0
	if cap(p.spans) > keepSpans {
		p.spans = nil
	}
	return dst, n, nil
}

// keepSpans is how many places of arguments are kept for the next request.
const keepSpans = 64

// argument looks for the argument at pos; whole tells that all of it is there.
func (p *Parser) argument(b []byte) (whole bool, err error) {
	if p.bulk < 0 {
		line, next, err := lineAt(b, p.pos, "too big bulk count string")
		if next == 0 {
			return false, err
		}
		if len(line) == 0 || line[0] != '$' {
			got := byte('\r')
			if len(line) > 0 {
				got = line[0]
			}
			return false, ProtocolError(fmt.Sprintf("expected '$', got '%c'", got))
		}
		n, ok := number(line[1:])
		switch {
		case !ok || n < 0 || n > int64(p.Limits.Bulk):
			return false, ProtocolError("invalid bulk length")
		case n > strangerBulk && p.Stranger:
			return false, ProtocolError("unauthenticated bulk length")
		case int64(next)+n > int64(p.Limits.Request):
			return false, ProtocolError("too big request")
		}
		p.pos, p.bulk = next, int(n)
	}
	end := p.pos + p.bulk
	if len(b) < end+2 {
		return false, nil
	}
	p.spans = append(p.spans, span{p.pos, end})
	p.pos, p.bulk = end+2, -1
	p.left--
	return true, nil
}

// Want is how many bytes there must be, from the first of the request at hand, for Next to find out
// more; 0 when that is not known.
func (p *Parser) Want() int {
	if p.left == 0 || p.bulk < 0 {
		return 0
	}
	return p.pos + p.bulk + 2
}

// Busy tells that a request has begun and is not whole.
func (p *Parser) Busy() bool { return p.left > 0 }

// lineAt is the line of b that begins at from, and where the next begins: 0 when its end is not
// there yet.
func lineAt(b []byte, from int, tooLong ProtocolError) (line []byte, next int, err error) {
	end := bytes.IndexByte(b[from:], '\r')
	switch {
	case end < 0 && len(b)-from > maxLine:
		return nil, 0, tooLong
	case end < 0 || from+end+1 >= len(b):
		return nil, 0, nil
	}
	return b[from : from+end], from + end + 2, nil
}

// number reads a decimal number as it is written: no blanks, no plus sign, no zeros before it.
func number(b []byte) (n int64, ok bool) {
	negative := len(b) > 1 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && (len(b) > 1 || negative) {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
