package grpcwire

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/net/http2"
)

// frameHead is the size of the header of a frame.
const frameHead = 9

// frame is one frame that was read. The payload is valid until the next read.
type frame struct {
	kind    http2.FrameType
	flags   http2.Flags
	call    uint32
	payload []byte
}

// fault is an HTTP/2 protocol error of the client. If call is set, it ends the call, otherwise the
// connection.
type fault struct {
	call uint32
	code http2.ErrCode
	text string
}

func (f *fault) Error() string { return fmt.Sprintf("%v: %s", f.code, f.text) }

func connFault(code http2.ErrCode, format string, args ...any) error {
	return &fault{code: code, text: fmt.Sprintf(format, args...)}
}

func callFault(call uint32, code http2.ErrCode, text string) error {
	return &fault{call: call, code: code, text: text}
}

// putFrameHead writes the frame header for a payload of n bytes.
func putFrameHead(b []byte, n int, kind http2.FrameType, flags http2.Flags, call uint32) {
	_ = b[frameHead-1]
	b[0], b[1], b[2] = byte(n>>16), byte(n>>8), byte(n)
	b[3], b[4] = byte(kind), byte(flags)
	binary.BigEndian.PutUint32(b[5:], call)
}

// appendFrame appends a frame. The caller chooses a length that the kind of frame allows.
func appendFrame(dst []byte, kind http2.FrameType, flags http2.Flags, call uint32, payload ...byte) []byte {
	dst = append(dst, make([]byte, frameHead)...)
	putFrameHead(dst[len(dst)-frameHead:], len(payload), kind, flags, call)
	return append(dst, payload...)
}

func appendReset(dst []byte, call uint32, code http2.ErrCode) []byte {
	return appendFrame(dst, http2.FrameRSTStream, 0, call, binary.BigEndian.AppendUint32(nil, uint32(code))...)
}

func appendWindow(dst []byte, call uint32, n uint32) []byte {
	return appendFrame(dst, http2.FrameWindowUpdate, 0, call, binary.BigEndian.AppendUint32(nil, n)...)
}

func appendGoAway(dst []byte, last uint32, code http2.ErrCode, text string) []byte {
	payload := binary.BigEndian.AppendUint32(nil, last)
	payload = binary.BigEndian.AppendUint32(payload, uint32(code))
	return appendFrame(dst, http2.FrameGoAway, 0, 0, append(payload, text...)...)
}

// unpad returns the payload of f without padding.
func unpad(f frame) ([]byte, error) {
	const padded = http2.FlagDataPadded // the same bit for both kinds of frames that can be padded
	if !f.flags.Has(padded) {
		return f.payload, nil
	}
	if len(f.payload) == 0 {
		return nil, connFault(http2.ErrCodeFrameSize, "a padded frame without the length of its padding")
	}
	n, rest := int(f.payload[0]), f.payload[1:]
	if n > len(rest) {
		return nil, connFault(http2.ErrCodeProtocol, "padding longer than its frame")
	}
	return rest[:len(rest)-n], nil
}
