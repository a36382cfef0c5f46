package grpcwire

import (
	"encoding/binary"
	"strconv"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// messageHead is the size of the prefix of a gRPC message: the compressed flag and the length.
const messageHead = 5

// Reply answers the call with m, which is encoded before Reply returns.
func (s *Call) Reply(m proto.Message) {
	s.ReplyBytes(func(dst []byte) ([]byte, error) { return proto.MarshalOptions{}.MarshalAppend(dst, m) })
}

// ReplyBytes answers the call with a message that encode appends. encode runs with a lock of the
// connection held: it must neither block nor use the call.
func (s *Call) ReplyBytes(encode func(dst []byte) ([]byte, error)) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.release()
	s.c.answer(s, outgoing{append: encode})
}

// answer sends a message and ends the call with status OK. The caller holds mu.
func (c *conn) answer(call *Call, o outgoing) {
	if call.ended || call.last != nil {
		return
	}
	if err := c.sendMessage(call, o); err != nil {
		c.end(call, status.Convert(err))
		return
	}
	c.end(call, nil)
}

// answerHandled answers a unary call whose handler ran on a goroutine. While other handlers run,
// the writer collects their answers. The last handler writes its answer itself, which saves a
// goroutine switch when calls come one at a time.
func (c *conn) answerHandled(call *Call, o outgoing, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call.release()
	c.running--
	alone := c.running == 0 && c.out.rounds == 0
	if alone {
		c.out.gather()
	}
	if err == nil {
		c.answer(call, o)
	} else {
		c.end(call, statusOf(err))
	}
	if alone {
		c.leaveRound()
	}
}

// Fail answers the call with the status of err. An error without a status is converted: a context
// error to its code, any other to Unknown.
func (s *Call) Fail(err error) {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	s.release()
	c.end(s, statusOf(err))
}

// sendMessage appends a message, preceded by the headers if they were not sent yet. After an error
// nothing is appended. The caller holds mu.
func (c *conn) sendMessage(call *Call, o outgoing) error {
	headersOut, enc, before := call.headersOut, c.enc, len(c.out.begin())
	if !headersOut {
		if err := c.sendHeaders(call); err != nil {
			return err
		}
	}
	send := c.sendPlain
	if call.sendAs != "" {
		send = c.sendCompressed
	}
	err := send(call, o)
	if err != nil {
		call.headersOut, c.enc = headersOut, enc
		c.out.end(c.out.begin()[:before])
	}
	return err
}

// sendPlain is sendMessage without compression, after the headers. The caller holds mu.
func (c *conn) sendPlain(call *Call, o outgoing) error {
	if o.append == nil {
		return c.sendLarge(call, o)
	}
	var room [frameHead + messageHead]byte
	b := c.out.begin()
	at := len(b)
	b, err := o.append(append(b, room[:]...))
	if err != nil {
		c.out.end(b[:at])
		return notEncoded(err)
	}
	n := len(b) - at - frameHead
	if n-messageHead > c.srv.o.MaxSendBytes {
		size := n - messageHead
		c.out.end(b[:at])
		return c.tooLarge(call, size)
	}
	binary.BigEndian.PutUint32(b[at+frameHead+1:], uint32(n-messageHead))
	if len(call.queue) == 0 && int64(n) <= min(call.window, c.send.window, int64(c.send.frame)) {
		putFrameHead(b[at:], n, http2.FrameData, 0, call.id)
		c.spend(call, n)
		c.out.end(b)
		return nil
	}
	p := append([]byte(nil), b[at+frameHead:]...)
	c.out.end(b[:at])
	c.sendData(call, p)
	return nil
}

// sendLarge is sendPlain for a large message, which it does not copy.
func (c *conn) sendLarge(call *Call, o outgoing) error {
	if o.err != nil {
		return notEncoded(o.err)
	}
	p := o.large.b
	n := len(p) - messageHead
	if n > c.srv.o.MaxSendBytes {
		return c.tooLarge(call, n)
	}
	p[0] = 0 // not compressed
	binary.BigEndian.PutUint32(p[1:], uint32(n))
	first := len(call.queue) == 0
	c.sendData(call, p)
	switch {
	case len(call.queue) == 0:
		releaseLarge(o.large)
	case first:
		call.large = o.large
	}
	return nil
}

// tooLarge returns the error for a message of n bytes that exceeds the limit, with grpc-go's text.
func (c *conn) tooLarge(call *Call, n int) error {
	prefix := "grpc: "
	if call.req.method.stream != nil {
		prefix = ""
	}
	return status.Errorf(codes.ResourceExhausted, "%strying to send message larger than max (%d vs. %d)", prefix, n, c.srv.o.MaxSendBytes)
}

// sendHeaders appends the headers of a successful answer. The caller holds mu.
func (c *conn) sendHeaders(call *Call) error {
	call.headersOut = true
	b := c.out.begin()
	at := len(b)
	b = c.enc.begin(append(b, make([]byte, frameHead)...))
	size := 0
	if call.req.subtype == "" {
		b = c.enc.good(b)
	} else {
		b = append(b, 0x80|indexStatus200)
		b, size = appendField(b, size, "content-type", contentType+"+"+call.req.subtype)
	}
	if call.sendAs != "" {
		b, size = appendField(b, size, "grpc-encoding", call.sendAs)
	}
	if len(call.header) > 0 {
		b, size = appendMetadata(b, size, call.header)
	}
	c.noteSent()
	return c.closeBlock(b, at, size, call, 0)
}

// end ends the call with st after the queued data; a nil st means OK. The caller holds mu.
func (c *conn) end(call *Call, st *status.Status) {
	if call.ended || call.last != nil {
		return
	}
	e := &ending{st: st}
	if len(call.queue) > 0 {
		call.last = e
		c.answerMade(call)
		c.watchStalls()
		return
	}
	c.sendTrailers(call, e)
}

// sendTrailers appends the trailers of the call, and a reset if the client has not finished
// sending. The caller holds mu.
func (c *conn) sendTrailers(call *Call, e *ending) {
	if !call.headersOut && len(call.header) > 0 && c.sendHeaders(call) != nil {
		return
	}
	b := c.out.begin()
	at := len(b)
	b = c.enc.begin(append(b, make([]byte, frameHead)...))
	size := 0
	if !call.headersOut {
		if call.req.subtype == "" {
			b = c.enc.good(b)
		} else {
			b = append(b, 0x80|indexStatus200)
			b, size = appendField(b, size, "content-type", contentType+"+"+call.req.subtype)
		}
	}
	if e.st == nil || e.st.Code() == codes.OK {
		b = c.enc.statusOK(b)
	} else {
		b, size = appendStatus(b, size, e.st, call.trailer)
	}
	if len(call.trailer) > 0 {
		b, size = appendMetadata(b, size, call.trailer)
	}
	c.noteSent()
	if c.closeBlock(b, at, size, call, http2.FlagHeadersEndStream) != nil {
		return
	}
	if !call.clientDone {
		b = appendReset(c.out.begin(), call.id, http2.ErrCodeNo)
		c.out.end(b)
	}
	c.remove(call)
}

// appendStatus appends the header fields of a status other than OK.
func appendStatus(b []byte, size int, st *status.Status, trailer metadata.MD) ([]byte, int) {
	b, size = appendField(b, size, "grpc-status", strconv.Itoa(int(st.Code())))
	b, size = appendField(b, size, "grpc-message", escapeMessage(st.Message()))
	if len(st.Proto().GetDetails()) == 0 {
		return b, size
	}
	details, err := proto.Marshal(st.Proto())
	if err != nil {
		return b, size
	}
	delete(trailer, detailsField) // the details of the status take precedence
	return appendField(b, size, detailsField, encodeBinary(string(details)))
}

// appendMetadata appends the metadata of the application, except for the fields that gRPC reserves.
func appendMetadata(b []byte, size int, md metadata.MD) ([]byte, int) {
	for name, values := range md {
		if isReserved(name) {
			continue
		}
		for _, v := range values {
			if isBinary(name) {
				v = encodeBinary(v)
			}
			b, size = appendField(b, size, name, v)
		}
	}
	return b, size
}

// appendField appends a field and returns the new size of the block as HTTP/2 counts it.
func appendField(b []byte, size int, name, value string) ([]byte, int) {
	const overhead = 32
	return appendLiteral(b, name, value), size + len(name) + len(value) + overhead
}

// closeBlock fills in the head of the frame at b[at:] and continues a block that is too long for
// one frame in further frames. If the block exceeds the header list limit of the client, it resets
// the call instead. The caller holds mu.
func (c *conn) closeBlock(b []byte, at, size int, call *Call, flags http2.Flags) error {
	if size > 0 && uint64(size) > c.send.headers {
		c.out.end(b[:at])
		c.reset(call, http2.ErrCodeInternal)
		return errHeadersTooLarge
	}
	block := b[at+frameHead:]
	if len(block) <= maxFrame {
		putFrameHead(b[at:], len(block), http2.FrameHeaders, flags|http2.FlagHeadersEndHeaders, call.id)
		c.out.end(b)
		return nil
	}
	block = append([]byte(nil), block...)
	b = appendFrame(b[:at], http2.FrameHeaders, flags, call.id, block[:maxFrame]...)
	for block = block[maxFrame:]; len(block) > 0; {
		n := min(len(block), maxFrame)
		last := http2.Flags(0)
		if n == len(block) {
			last = http2.FlagContinuationEndHeaders
		}
		b = appendFrame(b, http2.FrameContinuation, last, call.id, block[:n]...)
		block = block[n:]
	}
	c.out.end(b)
	return nil
}

// reset resets the call without an answer. The caller holds mu.
func (c *conn) reset(call *Call, code http2.ErrCode) {
	c.out.end(appendReset(c.out.begin(), call.id, code))
	c.remove(call)
}
