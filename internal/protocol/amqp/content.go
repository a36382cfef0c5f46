package amqp

import (
	"bytes"
	"errors"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// contentStage is the frame that a channel expects next for a publish.
type contentStage uint8

const (
	noContent contentStage = iota
	wantContentHeader
	wantContentBody
)

// maxBodySize is the largest body that a header may announce; a larger one ends
// the connection.
const maxBodySize = 512 << 20

// content is a publish that is being received. If all of it arrives in one read, it only points
// into the read buffer. own copies it so that it outlives the read.
type content struct {
	stage     contentStage
	mandatory bool

	exchange, key []byte
	props         []byte
	peek          message.Peek // of props
	size          int          // announced size of the body

	// env is nil until a part of the content must be kept. Then it is the envelope so far; the
	// server accounts for counted bytes of it.
	env     []byte
	body    int // bytes of the body in env
	counted int
}

// unexpected returns the fault for a frame that is not the expected one.
func (ct *content) unexpected() error {
	var f *fault
	if ct.stage == wantContentHeader {
		f = faultf(amqpcode.UnexpectedFrame, "expected content header for class %d, got non content header frame instead", amqpwire.ClassBasic)
	} else {
		f = faultf(amqpcode.UnexpectedFrame, "expected content body, got non content body frame instead")
	}
	f.method = amqpwire.IDBasicPublish
	return f
}

// beginPublish handles basic.publish; header and body follow.
func (ch *channel) beginPublish(args []byte) error {
	var m amqpwire.BasicPublish
	if err := m.Decode(args); err != nil {
		return err
	}
	if m.Immediate {
		return faultf(amqpcode.NotImplemented, "immediate=true")
	}
	ct := &ch.content
	ct.stage, ct.exchange, ct.key, ct.mandatory = wantContentHeader, m.Exchange, m.RoutingKey, m.Mandatory
	ch.points()
	return nil
}

// points records that the channel's content refers to the read buffer.
func (ch *channel) points() {
	c := ch.c
	if n := len(c.partial); n == 0 || c.partial[n-1] != ch {
		c.partial = append(c.partial, ch)
	}
}

// contentHeader handles a header frame.
func (ch *channel) contentHeader(payload []byte) error {
	ct := &ch.content
	switch ct.stage {
	case noContent:
		return faultf(amqpcode.UnexpectedFrame, "expected method frame, got non method frame instead")
	case wantContentBody:
		return ct.unexpected()
	}
	class, size, props, err := amqpwire.ParseContentHeader(payload)
	switch {
	case errors.Is(err, amqpwire.ErrWeight):
		return ct.unexpected()
	case err != nil && len(payload) < amqpwire.ContentHeaderSize:
		return unknownFrame(amqpwire.FrameHeader, payload)
	case err != nil:
		return publishFault(err)
	}
	if class != amqpwire.ClassBasic {
		return publishFault(faultf(amqpcode.UnexpectedFrame, "expected content header for class %d, got one for class %d instead", amqpwire.ClassBasic, class))
	}
	if size > maxBodySize {
		return publishFault(faultf(amqpcode.FrameError, "content body size %d exceeds maximum allowed size %d", size, maxBodySize))
	}
	if limit := ch.c.srv.o.MaxMessageSize; int64(size) > limit {
		return publishFault(faultf(amqpcode.PreconditionFailed, "message size %d is larger than configured max size %d", size, limit))
	}
	ct.peek, err = message.PeekProperties(props)
	if err == nil && len(ct.peek.Headers) > 0 {
		err = message.CheckTable(ct.peek.Headers)
	}
	if err != nil {
		return publishFault(faultf(amqpcode.SyntaxError, "%v", err))
	}
	ct.props, ct.size = props, int(size)
	if size == 0 {
		return ch.endContent(nil)
	}
	ct.stage = wantContentBody
	ch.points()
	return nil
}

// contentBody handles a body frame.
func (ch *channel) contentBody(payload []byte) error {
	ct := &ch.content
	switch {
	case ct.stage == noContent:
		return faultf(amqpcode.UnexpectedFrame, "expected method frame, got non method frame instead")
	case ct.stage == wantContentHeader:
		return ct.unexpected()
	case len(payload) > ct.size-ct.body:
		return publishFault(faultf(amqpcode.FrameError, "content body frame exceeds remaining content size"))
	case len(payload) == ct.size && ct.env == nil:
		return ch.endContent(payload)
	}
	if !ch.c.srv.assemble(len(payload)) {
		return publishFault(faultf(amqpcode.ResourceError, "too many bytes of unfinished messages"))
	}
	ct.counted += len(payload)
	ct.own()
	ct.grow(len(payload))
	ct.env = append(ct.env, payload...)
	if ct.body += len(payload); ct.body < ct.size {
		return nil
	}
	return ch.endContent(nil)
}

// own copies what the content still refers to in the read buffer.
func (ct *content) own() {
	switch {
	case ct.env != nil:
	case ct.stage == wantContentHeader:
		ct.exchange, ct.key = bytes.Clone(ct.exchange), bytes.Clone(ct.key)
	default:
		n := message.EnvelopeSize(len(ct.exchange), len(ct.key), len(ct.props), 0)
		ct.env = message.AppendEnvelopeHeader(make([]byte, 0, n), ct.exchange, ct.key, ct.props)
		ct.exchange, ct.key, ct.props, ct.peek = nil, nil, nil, message.Peek{}
	}
}

// grow makes room for n more bytes of the body. It does not trust the announced size: the capacity
// doubles with the bytes that have arrived, up to the exact size.
func (ct *content) grow(n int) {
	need := len(ct.env) + n
	if need <= cap(ct.env) {
		return
	}
	most := len(ct.env) - ct.body + ct.size
	env := make([]byte, len(ct.env), min(most, max(need, 2*cap(ct.env))))
	copy(env, ct.env)
	ct.env = env
}

// drop discards the content.
func (ct *content) drop(s *Server) {
	if ct.counted > 0 {
		s.assembling.Add(-int64(ct.counted))
	}
	*ct = content{}
}

// publishFault names basic.publish as the method that failed, because the frame that caused the
// failure has no method.
func publishFault(err error) error {
	f := wireFault(err)
	f.method = amqpwire.IDBasicPublish
	return f
}

// endContent publishes a complete message; body is its body unless the content owns it.
func (ch *channel) endContent(body []byte) error {
	c, ct := ch.c, &ch.content
	ct.stage = noContent
	if n := len(c.partial); n > 0 && c.partial[n-1] == ch {
		c.partial = c.partial[:n-1]
	}
	err := ch.publish(body)
	ct.drop(c.srv)
	if err != nil {
		return publishFault(err)
	}
	return nil
}
