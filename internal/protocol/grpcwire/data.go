package grpcwire

import (
	"encoding/binary"
	"io"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// message is one message as the client sent it.
type message struct {
	compressed byte // the first byte of the message: 0 no, 1 yes
	b          []byte
}

// weight returns how many bytes a message counts while it waits for its handler.
func (m message) weight() int64 { return max(int64(messageHead+len(m.b)), minHeld) }

// assembly assembles the messages of one call from its data frames.
type assembly struct {
	head   [messageHead]byte
	have   int    // bytes present in head
	body   []byte // of the incomplete message
	held   bool   // body, or a part of it, counts toward the held bytes
	closed bool   // further data is ignored: the one message has arrived, or the data was invalid
}

// next returns the first message of p and the data after it. If the message is incomplete, ok is
// false and next keeps p. The message may alias p.
func (a *assembly) next(p []byte, most int) (m message, rest []byte, ok bool, err error) {
	if a.have < messageHead {
		n := copy(a.head[a.have:], p)
		a.have += n
		p = p[n:]
		if a.have < messageHead {
			return m, nil, false, nil
		}
	}
	size := binary.BigEndian.Uint32(a.head[1:])
	if uint64(size) > uint64(most) {
		return m, nil, false, status.Errorf(codes.ResourceExhausted, "grpc: received message larger than max (%d vs. %d)", size, most)
	}
	need := int(size) - len(a.body)
	if len(p) < need {
		if a.body == nil {
			a.body = make([]byte, 0, min(int(size), maxFrame))
		}
		a.body = append(a.body, p...)
		return m, nil, false, nil
	}
	m = message{compressed: a.head[0], b: p[:need:need]}
	if len(a.body) > 0 {
		m.b = append(a.body, m.b...)
	}
	a.have, a.body = 0, nil
	return m, p[need:], true, nil
}

// partial reports whether a message has begun and is incomplete.
func (a *assembly) partial() bool { return a.have > 0 }

// dataFrame handles a data frame.
func (c *conn) dataFrame(f frame) error {
	if f.call == 0 || f.call > c.lastID {
		return connFault(http2.ErrCodeProtocol, "data of no open stream")
	}
	last := f.flags.Has(http2.FlagDataEndStream)
	p, err := unpad(f)
	switch {
	case err != nil:
		return err
	case len(p) == 0 && !last && !c.calm.Allow():
		return connFault(http2.ErrCodeEnhanceYourCalm, "too many frames for nothing")
	}
	size := uint32(len(f.payload))
	if c.received += size; c.received > c.srv.o.ConnWindow {
		return connFault(http2.ErrCodeFlowControl, "more data than the connection's window allows")
	}
	c.mu.Lock()
	call := c.calls[f.call]
	if call == nil {
		c.mu.Unlock()
		return c.lateData(f.call)
	}
	clientDone := call.clientDone
	call.spent += int64(size)
	over := call.spent > int64(c.srv.o.StreamWindow)
	c.mu.Unlock()
	switch {
	case clientDone:
		return callFault(f.call, http2.ErrCodeStreamClosed, "data after the end")
	case over:
		return callFault(f.call, http2.ErrCodeFlowControl, "more data than the stream's window allows")
	}
	c.take(call, p, last)
	return nil
}

// giveWindow returns received bytes to the client's connection window. The caller holds mu.
func (c *conn) giveWindow() {
	if c.received < c.srv.o.ConnWindow/2 {
		return
	}
	c.out.end(appendWindow(c.out.begin(), 0, c.received))
	c.received = 0
}

// giveWindow returns received bytes to the client's window for the call, except for messages that
// wait for the handler. Parts of an incomplete message are returned, since a message may be larger
// than the window. The caller holds mu.
func (s *Call) giveWindow() {
	n := s.spent - s.held
	if s.ended || s.clientDone || n < int64(s.c.srv.o.StreamWindow)/2 {
		return
	}
	s.c.out.end(appendWindow(s.c.out.begin(), s.id, uint32(n)))
	s.spent = s.held
}

// take hands data of the client to the call. last means that no data follows.
func (c *conn) take(call *Call, p []byte, last bool) {
	if last {
		c.mu.Lock()
		call.clientDone = true
		c.mu.Unlock()
	}
	for !call.in.closed && len(p) > 0 {
		m, rest, ok, err := call.in.next(p, c.srv.o.MaxRecvBytes)
		if err != nil {
			c.deliverErr(call, err)
			return
		}
		if !c.holdPart(call) {
			return
		}
		if !ok {
			break
		}
		c.deliver(call, m)
		p = rest
	}
	switch {
	case call.in.closed:
	case last && call.in.partial():
		c.deliverErr(call, io.ErrUnexpectedEOF)
	case last:
		c.deliverErr(call, io.EOF)
	default:
		c.mu.Lock()
		if call.begun = call.in.partial(); call.begun {
			c.watchStalls()
		}
		call.giveWindow()
		c.mu.Unlock()
	}
}

// deliver hands on a message, which may alias the read buffer.
func (c *conn) deliver(call *Call, m message) {
	if call.req.method.unary != nil {
		call.in.closed = true // a unary method receives only one message
		c.unary(call, m)
		return
	}
	if !c.holdFor(call, m.weight()) {
		c.refuseMore(call)
		return
	}
	m.b = append([]byte(nil), m.b...)
	c.mu.Lock()
	defer c.mu.Unlock()
	call.stale = false
	if call.ended {
		c.letGo(m.weight())
		return
	}
	call.inbox = append(call.inbox, m)
	call.held += m.weight()
	call.tellArrived()
}

// deliverErr ends the input of the handler with err.
func (c *conn) deliverErr(call *Call, err error) {
	call.in.closed = true
	c.mu.Lock()
	defer c.mu.Unlock()
	if call.req.method.unary != nil {
		c.end(call, status.Convert(err)) // the handler never received its message
		return
	}
	call.inErr, call.begun = err, false
	call.tellArrived()
}

// tellArrived wakes RecvMsg. The caller holds mu.
func (s *Call) tellArrived() {
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}
