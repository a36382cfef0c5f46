package pgwire

import (
	"encoding/binary"
	"io"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Sizes of the read buffer: the initial size, and the size that is kept after a larger message.
const (
	readBuffer = 8 << 10
	keptBuffer = 64 << 10
)

const headerBytes = 5 // a kind and a length

// incoming is a received message. Its body is valid until the next message is read.
type incoming struct {
	kind byte
	body []byte
}

// frames splits the input of a client into messages. An interrupted read can be resumed.
type frames struct {
	r          io.Reader
	limit      int // bytes of a body
	buf        []byte
	start, end int // of the unread part of buf
}

// next returns the next message. It returns errors of the reader, io.ErrUnexpectedEOF, or a
// *pgerror.Error for a malformed message. After a malformed message nothing more can be read.
func (f *frames) next() (incoming, error) {
	if f.start == f.end {
		f.start, f.end = 0, 0
		if cap(f.buf) > keptBuffer {
			f.buf = nil
		}
	}
	if err := f.fill(headerBytes); err != nil {
		return incoming{}, err
	}
	kind, n := f.buf[f.start], int(int32(binary.BigEndian.Uint32(f.buf[f.start+1:])))-4
	switch {
	case !known(kind):
		return incoming{}, fatal(pgerror.ProtocolViolation, "invalid frontend message type %d", kind)
	case n < 0 || n > f.limit:
		return incoming{}, fatal(pgerror.ProtocolViolation, "invalid message length")
	}
	if err := f.fill(headerBytes + n); err != nil {
		return incoming{}, err
	}
	body := f.buf[f.start+headerBytes : f.start+headerBytes+n]
	f.start += headerBytes + n
	return incoming{kind, body}, nil
}

// known reports whether a client may send messages of this kind.
func known(kind byte) bool {
	switch kind {
	case 'Q', 'P', 'B', 'D', 'E', 'C', 'H', 'S', 'X', 'F', 'd', 'c', 'f', 'p':
		return true
	}
	return false
}

// fill reads until n bytes are buffered. The buffer grows with the bytes received, not with the
// length that the client announces.
func (f *frames) fill(n int) error {
	for f.end-f.start < n {
		if f.end == len(f.buf) || f.start+n > len(f.buf) && f.start > 0 {
			f.makeRoom()
		}
		got, err := f.r.Read(f.buf[f.end:])
		f.end += got
		switch {
		case got > 0:
		case err == io.EOF && f.end > f.start:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// makeRoom moves the unread bytes to the front, and doubles the buffer if it is full.
func (f *frames) makeRoom() {
	to := f.buf
	if f.start == 0 {
		to = make([]byte, max(2*len(f.buf), readBuffer))
	}
	f.end = copy(to, f.buf[f.start:f.end])
	f.start, f.buf = 0, to
}
