package grpcwire

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Call is one call of a client. Applications answer with it calls that they took
// in [Conn.Unary]; any goroutine may use it.
//
// It implements grpc.ServerTransportStream.
type Call struct {
	c        *conn
	id       uint32
	req      *request
	deadline time.Time // zero: none

	in assembly // the reader's

	// The rest is guarded by c.mu.
	clientDone bool // the client sends nothing more
	ended      bool // trailers or a reset are out: the call is not in c.calls any more
	handled    bool // counts in c.busy
	headersOut bool
	window     int64 // for what we send; may be negative
	queue      []byte
	last       *ending // trailers that wait for the queue to be sent

	spent    int64 // bytes received and not given back to the client's window
	held     int64 // bytes of inbox
	part     int64 // bytes counted for the message that is not whole
	inbox    []message
	inErr    error         // comes after inbox
	arrived  chan struct{} // 1 slot: inbox or inErr changed; nil: this is no stream
	room     chan struct{} // 1 slot: SendMsg may look again; nil: none waited yet
	crowding bool          // is in c.send.crowd

	begun  bool        // a message of a stream has begun and is not whole
	stale  bool        // what is missing of a message was missing at the last look for stalls, too
	unsent int         // bytes of queue at that look, 0: the call was not over
	slot   *answerSlot // nil: none was asked for

	ctx     context.Context // nil before it was asked for
	cancel  context.CancelFunc
	header  metadata.MD
	trailer metadata.MD
	sendAs  string // grpc-encoding of the answer
}

// ending is how a call ends.
type ending struct {
	st *status.Status // nil: OK
}

// Method is the path of the called method, "/package.Service/Method".
func (s *Call) Method() string { return s.req.path }

// Metadata is what the client sent. Other calls may share it: it is not changed.
func (s *Call) Metadata() metadata.MD { return s.req.md }

// Deadline is when the client stops waiting.
func (s *Call) Deadline() (deadline time.Time, ok bool) { return s.deadline, !s.deadline.IsZero() }

// Context is the call's context, with all that handlers of grpc-go find in theirs.
// It ends with the call.
func (s *Call) Context() context.Context {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.ctx == nil {
		ctx := metadata.NewIncomingContext(s.c.base, s.req.md)
		if s.deadline.IsZero() {
			ctx, s.cancel = context.WithCancel(ctx)
		} else {
			ctx, s.cancel = context.WithDeadline(ctx, s.deadline)
		}
		s.ctx = grpc.NewContextWithServerTransportStream(ctx, s)
		if s.ended {
			s.cancel()
		}
	}
	return s.ctx
}

// SetHeader implements grpc.ServerTransportStream.
func (s *Call) SetHeader(md metadata.MD) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	switch {
	case md.Len() == 0:
		return nil
	case s.headersOut || s.ended || s.last != nil:
		return errHeadersOut
	}
	s.header = metadata.Join(s.header, md)
	return nil
}

// SendHeader implements grpc.ServerTransportStream.
func (s *Call) SendHeader(md metadata.MD) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	switch {
	case s.ended || s.last != nil:
		return s.endedErr()
	case s.headersOut:
		return errHeadersOut
	}
	if md.Len() > 0 {
		s.header = metadata.Join(s.header, md)
	}
	return s.c.sendHeaders(s)
}

// SetTrailer implements grpc.ServerTransportStream.
func (s *Call) SetTrailer(md metadata.MD) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	switch {
	case md.Len() == 0:
		return nil
	case s.ended || s.last != nil:
		return errHeadersOut
	}
	s.trailer = metadata.Join(s.trailer, md)
	return nil
}

// endedErr is what a handler gets that goes on after the end of its call. mu is held.
func (s *Call) endedErr() error {
	if s.ctx != nil && s.ctx.Err() != nil {
		return contextErr(s.ctx.Err())
	}
	return contextErr(context.Canceled)
}

// remove takes a call that has ended out of the connection. mu is held.
func (c *conn) remove(call *Call) {
	if call.ended {
		return
	}
	call.ended = true
	delete(c.calls, call.id)
	c.closed.add(call.id, !call.clientDone)
	c.queued(-len(call.queue))
	call.queue, call.last = nil, nil
	c.letGo(call.held + call.part + weighty(int(call.req.size)))
	c.releaseSlot(call)
	call.inbox, call.held, call.part = nil, 0, 0
	if call.cancel != nil {
		call.cancel()
	}
	if call.crowding {
		c.tellRoom()
	}
	if len(c.calls) > 0 {
		return
	}
	if c.keep.idle != nil {
		c.keep.idleAt = time.Now()
	}
	if c.goaway == goawayFinal {
		c.leave()
	}
}

// begin counts the call as one that is handled. mu is held.
func (s *Call) begin() {
	s.handled = true
	s.c.busy++
}

// release counts it out. mu is held.
func (s *Call) release() {
	if s.handled {
		s.handled = false
		s.c.busy--
	}
}

// leave has the reader end the connection.
func (c *conn) leave() {
	c.quit.Store(true)
	c.in.Kick()
}
