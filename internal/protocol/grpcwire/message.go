package grpcwire

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec of all that name none
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// open returns the decompressed bytes of a message.
func (s *Call) open(m message) ([]byte, error) {
	switch {
	case m.compressed == 0:
		return m.b, nil
	case m.compressed > 1:
		return nil, status.Errorf(codes.Internal, "grpc: received unexpected payload format %d", m.compressed)
	case s.req.comp == nil:
		return nil, status.Error(codes.Internal, "grpc: compressed flag set with identity or empty encoding")
	}
	r, err := s.req.comp.Decompress(bytes.NewReader(m.b))
	if err != nil {
		return nil, status.Errorf(codes.Internal, "grpc: failed to decompress the message: %v", err)
	}
	if closer, ok := r.(io.Closer); ok {
		defer closer.Close()
	}
	most := s.c.srv.o.MaxRecvBytes
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	switch {
	case err != nil:
		return nil, status.Errorf(codes.Internal, "grpc: failed to read decompressed data: %v", err)
	case len(b) > most:
		return nil, status.Errorf(codes.ResourceExhausted, "grpc: received message after decompression larger than max %d", most)
	}
	return b, nil
}

// codec returns the codec that the content type names, or the protobuf codec.
func (s *Call) codec() encoding.CodecV2 {
	if c := encoding.GetCodecV2(s.req.subtype); c != nil {
		return c
	}
	return encoding.GetCodecV2("proto")
}

// usual reports whether the content type asks for the protobuf codec.
func (s *Call) usual() bool { return s.req.subtype == "" || s.req.subtype == "proto" }

// decode decodes a message into v.
func (s *Call) decode(b []byte, v any) error {
	if m, ok := v.(proto.Message); ok && s.usual() {
		return proto.Unmarshal(b, m)
	}
	return s.codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(b)}, v)
}

// encode appends the encoding of v.
func (s *Call) encode(dst []byte, v any) ([]byte, error) {
	if v == nil {
		return dst, nil
	}
	if m, ok := v.(proto.Message); ok && s.usual() {
		return proto.MarshalOptions{}.MarshalAppend(dst, m)
	}
	b, err := s.codec().Marshal(v)
	if err != nil {
		return dst, err
	}
	defer b.Free()
	for _, part := range b {
		dst = append(dst, part.ReadOnlyData()...)
	}
	return dst, nil
}

// largeMessage is the size above which a message is not encoded with the connection's lock held.
const largeMessage = 64 << 10

// outgoing is a message to be sent.
type outgoing struct {
	append func(dst []byte) ([]byte, error) // appends the encoding of a small one
	large  *outBuffer                       // the encoding of a large one, after messageHead bytes of room
	err    error                            // why the large one has no encoding
}

// largeBuffers are for large messages. mostLarge is the largest that is kept.
var largeBuffers = sync.Pool{New: func() any { return new(outBuffer) }}

const mostLarge = 4 << 20

// releaseLarge releases the buffer of a large message, if there is one.
func releaseLarge(b *outBuffer) {
	if b != nil && cap(b.b) <= mostLarge {
		largeBuffers.Put(b)
	}
}

// outgoing encodes v if it is large.
func (s *Call) outgoing(v any) outgoing {
	size, encode := s.sized(v)
	if size <= largeMessage {
		return outgoing{append: encode}
	}
	large := largeBuffers.Get().(*outBuffer)
	b, err := encode(slices.Grow(large.b[:0], messageHead+size)[:messageHead])
	large.b = b
	return outgoing{large: large, err: err}
}

// encoding returns the encoding.
func (o *outgoing) encoding() ([]byte, error) {
	switch {
	case o.append != nil:
		return o.append(nil)
	case o.err != nil:
		return nil, o.err
	}
	return o.large.b[messageHead:], nil
}

// notEncoded is the status of a message that cannot be encoded, with grpc-go's text.
func notEncoded(err error) error {
	return status.Errorf(codes.Internal, "grpc: error while marshaling: %v", err)
}

// sized returns the encoded size of v, as far as it is known, and a function that appends the
// encoding.
func (s *Call) sized(v any) (size int, encode func(dst []byte) ([]byte, error)) {
	m, ok := v.(proto.Message)
	if ok && s.usual() && s.c.srv.o.Encode != nil {
		if size, encode = s.c.srv.o.Encode(m); encode != nil {
			return size, encode
		}
	}
	if ok {
		size = proto.Size(m)
	}
	return size, func(dst []byte) ([]byte, error) { return s.encode(dst, v) }
}

// sendCompressed is sendMessage with compression, after the headers. The caller holds mu.
func (c *conn) sendCompressed(call *Call, o outgoing) error {
	b, err := o.encoding()
	if err != nil {
		return notEncoded(err)
	}
	out := bytes.NewBuffer(make([]byte, messageHead, messageHead+len(b)))
	if len(b) > 0 {
		out.Bytes()[0] = 1
		if err := compress(out, call.req.comp, b); err != nil {
			return status.Errorf(codes.Internal, "grpc: error while compressing: %v", err)
		}
	}
	p := out.Bytes()
	n := len(p) - messageHead
	if n > c.srv.o.MaxSendBytes {
		return c.tooLarge(call, n)
	}
	binary.BigEndian.PutUint32(p[1:], uint32(n))
	c.sendData(call, p)
	return nil
}

func compress(w io.Writer, comp encoding.Compressor, b []byte) error {
	z, err := comp.Compress(w)
	if err != nil {
		return err
	}
	if _, err := z.Write(b); err != nil {
		return err
	}
	return z.Close()
}
