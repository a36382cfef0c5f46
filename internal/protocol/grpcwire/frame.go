package grpcwire

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/net/http2"
)

// frameHead is the size of what precedes a frame's payload.
const frameHead = 9

// frame is one frame as it was read. The payload is valid until the next read.
type frame struct {
	kind    http2.FrameType
	flags   http2.Flags
	call    uint32
	payload []byte
}

// fault is a breach of HTTP/2 by the client. With a call it ends that, without
// one the connection.
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

// putFrameHead fills in the nine bytes before a payload of n.
func putFrameHead(b []byte, n int, kind http2.FrameType, flags http2.Flags, call uint32) {
	_ = b[frameHead-1]
	b[0], b[1], b[2] = byte(n>>16), byte(n>>8), byte(n)
	b[3], b[4] = byte(kind), byte(flags)
	binary.BigEndian.PutUint32(b[5:], call)
}

// appendFrame appends a frame. Any length is right that its kind allows.
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

// unpad cuts the padding off the payload of f.
func unpad(f frame) ([]byte, error) {
	const padded = http2.FlagDataPadded // the same bit in both kinds that can be padded
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
