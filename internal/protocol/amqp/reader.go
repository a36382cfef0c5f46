package amqp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// readLoop reads until the connection ends.
func (c *conn) readLoop() {
	want := 0
	for c.state != closed {
		if c.draining.Load() && c.state <= running {
			c.goodbye()
			continue
		}
		c.endOverdue()
		c.awaitRoom()
		if c.idle.Swap(false) && c.session != nil {
			c.session.Idle()
			c.pub, c.taken, c.partial = shard.Publish{}, nil, nil
		}
		switch err := c.in.Fill(want); {
		case errors.Is(err, protocol.ErrKicked):
			continue
		case err != nil:
			c.state = closed // the client is gone
			return
		}
		want = c.parse()
		c.endRead()
	}
}

// parse handles all complete pending frames. It returns how many bytes the incomplete frame at the
// end needs, as far as that is known.
func (c *conn) parse() (want int) {
	if c.state == wantHeader && !c.protocolHeader() {
		return 0
	}
	for {
		switch c.state {
		case garbled:
			c.in.Consume(len(c.in.Pending()))
			return 0
		case closed:
			return 0
		}
		pending := c.in.Pending()
		f, n, err := amqpwire.ParseFrame(pending, c.frameMax)
		if err != nil {
			c.frameFault(err, pending)
			continue
		}
		if n == 0 {
			return frameSize(pending)
		}
		c.in.Consume(n)
		c.answers = c.session != nil && c.in.Waited() && n == len(pending)
		if err := c.frame(f); err != nil {
			c.refuse(f, err)
		}
		if c.blocked && !c.awaitAlarmEnd() {
			return 0
		}
	}
}

// frameSize returns the size of the frame at the start of b with its framing, 0 if b is too short.
func frameSize(b []byte) int {
	const head = amqpwire.FrameOverhead - 1
	if len(b) < head {
		return 0
	}
	return int(binary.BigEndian.Uint32(b[head-4:])) + amqpwire.FrameOverhead
}

// endRead hands over the operations that the frames of one read asked for.
func (c *conn) endRead() {
	for i, ch := range c.partial {
		if ch.content.stage != noContent {
			ch.content.own()
		}
		c.partial[i] = nil
	}
	c.partial = c.partial[:0]
	c.flushRead()
	c.last.show()
	c.arena = arena{}
}

// flushRead is flush for the operations of one read. If the reader had to wait for the client, it
// executes them itself if possible, because no other goroutine would do so sooner.
func (c *conn) flushRead() {
	if c.session == nil || !c.in.Waited() {
		c.flush()
		return
	}
	c.emitSettled()
	c.out.telling.Store(true)
	few := c.session.FlushFew()
	c.out.telling.Store(false)
	if !few {
		c.out.signal()
		c.flush()
		return
	}
	c.answers = false
	c.Send()
	c.doRequests()
}

// flush hands over the collected operations. It may wait, so answers are sent first.
func (c *conn) flush() {
	if c.answers {
		c.answers = false
		c.out.signal()
	}
	if c.session != nil {
		c.emitSettled()
		c.session.Flush()
		c.doRequests()
	}
}

// frame handles one frame. It returns an error that the caller passes to refuse.
func (c *conn) frame(f amqpwire.Frame) error {
	switch {
	case c.state == closing:
		c.closingFrame(f)
		return nil
	case f.Channel == 0:
		return c.connectionFrame(f)
	case c.state != running:
		return unexpectedMethod(c.state)
	}
	ch := c.last
	if ch == nil || ch.id != f.Channel {
		ch = c.channels[f.Channel]
		if ch == nil {
			return c.frameWithoutChannel(f)
		}
		c.last.show()
		c.last = ch
	}
	return ch.frame(f)
}

// connectionFrame handles a frame of channel 0.
func (c *conn) connectionFrame(f amqpwire.Frame) error {
	switch {
	case f.Type == amqpwire.FrameMethod:
		return c.connectionMethod(f.Payload)
	case f.Type != amqpwire.FrameHeartbeat || len(f.Payload) > 0:
		return unexpectedFrame(f)
	}
	return nil
}

// frameWithoutChannel handles a frame for a channel that is not open: only channel.open is allowed.
func (c *conn) frameWithoutChannel(f amqpwire.Frame) error {
	switch f.Type {
	case amqpwire.FrameHeartbeat:
		return unexpectedFrame(f)
	case amqpwire.FrameMethod:
	default:
		return faultf(amqpcode.UnexpectedFrame, "expected method frame, got non method frame instead")
	}
	id, _, err := amqpwire.SplitMethod(f.Payload)
	switch {
	case err != nil:
		return err
	case id != amqpwire.IDChannelOpen:
		return faultf(amqpcode.ChannelError, "expected 'channel.open'")
	}
	return c.openChannel(f.Channel)
}

// closingFrame handles a frame after connection.close was sent.
func (c *conn) closingFrame(f amqpwire.Frame) {
	if f.Channel != 0 || f.Type != amqpwire.FrameMethod {
		return
	}
	switch id, _, _ := amqpwire.SplitMethod(f.Payload); id {
	case amqpwire.IDConnectionCloseOk:
		c.state = closed
	case amqpwire.IDConnectionClose:
		c.send(&amqpwire.ConnectionCloseOk{})
	}
}

// refuse answers a frame that failed, in the scope of the fault's code.
func (c *conn) refuse(f amqpwire.Frame, err error) {
	fl := wireFault(err)
	if errors.Is(err, amqpwire.ErrMalformedMethod) {
		fl = undecodable(f, err)
	}
	if f.Type == amqpwire.FrameMethod && fl.method == 0 && !fl.bare {
		fl.method, _, _ = amqpwire.SplitMethod(f.Payload)
	}
	if ch := c.channels[f.Channel]; ch != nil && !amqpcode.IsHard(fl.code) {
		ch.fail(fl)
		return
	}
	c.fail(fl)
}

// wireFault is faultOf, also for errors of the codec.
func wireFault(err error) *fault {
	var unknown *amqpwire.UnknownMethodError
	switch {
	case errors.As(err, &unknown):
		f := faultf(amqpcode.NotImplemented, "unknown method %d of class %d", unknown.ID.Method(), unknown.ID.Class())
		f.method = unknown.ID
		return f
	case errors.Is(err, amqpwire.ErrMalformedHeader):
		return faultf(amqpcode.SyntaxError, "%s", strings.TrimPrefix(err.Error(), "amqpwire: "))
	}
	return faultOf(err)
}

// undecodable returns the fault for a method frame whose ids or arguments are missing or too long.
func undecodable(f amqpwire.Frame, err error) *fault {
	if errors.Is(err, amqpwire.ErrNotUTF8) {
		return &fault{code: amqpcode.FrameError, text: "Malformed UTF-8 in shortstr", bare: f.Channel != 0}
	}
	const ids = 4
	if len(f.Payload) < ids {
		return unknownFrame(f.Type, f.Payload)
	}
	return faultf(amqpcode.FrameError, "cannot decode %s", numbers(f.Payload[ids:]))
}

// unknownFrame returns the fault for a frame whose payload does not fit its type.
func unknownFrame(frameType uint8, payload []byte) *fault {
	return &fault{code: amqpcode.FrameError, text: describe(frameType, payload) + ": unknown_frame", bare: true}
}

// frameFault ends a connection whose byte stream is no longer AMQP.
func (c *conn) frameFault(err error, pending []byte) {
	var fe *amqpwire.FrameError
	if !errors.As(err, &fe) || c.state == closing {
		c.state = garbled
		return
	}
	payload := pending[min(len(pending), amqpwire.FrameOverhead-1):]
	payload = payload[:min(len(payload), int(fe.Size))]
	if fe.Kind == amqpwire.ErrFrameTooLarge {
		payload = nil // the payload was not read
	}
	c.fail(faultf(amqpcode.FrameError, "%s: %s", describe(fe.Type, payload), fe.Reason()))
	c.state = garbled
	c.killAfter(garbledTimeout)
}

// unexpectedFrame returns the fault for a frame in the wrong place, or for bytes that are not a
// frame.
func unexpectedFrame(f amqpwire.Frame) *fault {
	if f.Type == amqpwire.FrameHeartbeat && len(f.Payload) > 0 {
		return unknownFrame(f.Type, f.Payload)
	}
	return &fault{code: amqpcode.UnexpectedFrame, text: describe(f.Type, f.Payload)}
}

// describe formats a frame as RabbitMQ does.
func describe(frameType uint8, payload []byte) string {
	if len(payload) <= 16 {
		return fmt.Sprintf("type %d, all octets = %s", frameType, octets(payload))
	}
	return fmt.Sprintf("type %d, first 16 octets = %s", frameType, octets(payload[:16]))
}

// octets prints bytes in Erlang's notation.
func octets(b []byte) string {
	text := len(b) > 0
	for _, x := range b {
		text = text && x >= ' ' && x <= '~' && x != '"' && x != '\\'
	}
	if text {
		return `<<"` + string(b) + `">>`
	}
	return numbers(b)
}

// numbers prints bytes in Erlang's notation, always as numbers.
func numbers(b []byte) string {
	var s strings.Builder
	s.WriteString("<<")
	for i, x := range b {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprint(&s, x)
	}
	s.WriteString(">>")
	return s.String()
}
