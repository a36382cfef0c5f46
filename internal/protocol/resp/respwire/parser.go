package respwire

import (
	"bytes"
	"fmt"
)

// Limits of any request, the same as in Redis.
const (
	maxArgs = 1 << 20
	maxLine = 64 << 10 // of an inline request, and of a line with a count or a length
)

// Limits for a client that has not logged in.
const (
	strangerArgs = 10
	strangerBulk = 16 << 10
)

// ProtocolError is a malformed request. The position of the next request is unknown after it.
type ProtocolError string

func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

// Limits bounds the size of requests.
type Limits struct {
	Bulk    int // bytes of one argument
	Request int // bytes of a whole request
}

// Parser finds requests in the client's input.
type Parser struct {
	Limits   Limits
	Stranger bool // the client is not logged in: stricter limits apply

	// The state of the current, incomplete request. Positions are relative to its first byte.
	left  int    // number of arguments still missing, 0 if no request has begun
	pos   int    // everything before it has been parsed
	bulk  int    // length of the argument at pos, or -1 if not known yet
	spans []span // arguments found so far
}

// span is the position of an argument.
type span struct{ from, to int }

// Next finds the request at the beginning of b, which must start at the same byte until a request
// was found. n is the length of the request, or 0 while more input is needed. Next appends the
// arguments to dst. They are slices of b, or copies if they were quoted. A request without
// arguments needs no answer. The error is a ProtocolError.
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

// keepSpans is the maximum capacity of spans that is kept for the next request.
const keepSpans = 64

// argument parses the argument at pos. whole reports whether all of it has arrived.
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

// Want returns how many bytes, from the first byte of the current request, Next needs to make
// progress, or 0 if that is not known.
func (p *Parser) Want() int {
	if p.left == 0 || p.bulk < 0 {
		return 0
	}
	return p.pos + p.bulk + 2
}

// Busy reports whether a request has begun and is incomplete.
func (p *Parser) Busy() bool { return p.left > 0 }

// lineAt returns the line of b that begins at from, and the position of the next line. The position
// is 0 if the line is incomplete.
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

// number parses a decimal number without blanks, plus sign, or leading zeros.
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
