package grpcwire

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Call is one call of a client. The application uses it to answer calls that it accepted in
// [Conn.Unary]. Any goroutine may use it.
//
// It implements grpc.ServerTransportStream.
type Call struct {
	c        *conn
	id       uint32
	req      *request
	deadline time.Time // zero: no deadline

	in assembly // used by the reader only

	// c.mu guards the fields below.
	clientDone bool // the client sends nothing further
	ended      bool // trailers or a reset were sent, and the call is no longer in c.calls
	handled    bool // the call counts in c.busy
	headersOut bool
	window     int64 // send window; may be negative
	queue      []byte
	large      *outBuffer // the message in queue, if it is in one; released when it is sent
	last       *ending    // trailers to send after the queue

	spent    int64 // bytes received and not returned to the client's window
	held     int64 // bytes of inbox
	part     int64 // bytes counted for the incomplete message
	inbox    []message
	inErr    error         // returned after inbox is empty
	arrived  chan struct{} // capacity 1: inbox or inErr changed; nil for unary calls
	room     chan struct{} // capacity 1: SendMsg may check again; nil until it has waited once
	crowding bool          // the call is in c.send.crowd

	begun  bool        // a message of a stream has begun and is incomplete
	stale  bool        // the message was already incomplete at the last check for stalls
	unsent int         // length of queue at the last check for stalls; 0: the call was not over
	slot   *answerSlot // nil: none was requested

	ctx     context.Context // nil until it is requested
	cancel  context.CancelFunc
	header  metadata.MD
	trailer metadata.MD
	sendAs  string // grpc-encoding of the answer
}

// ending is the final status of a call.
type ending struct {
	st *status.Status // nil: OK
}

// Method returns the path of the called method, "/package.Service/Method".
func (s *Call) Method() string { return s.req.path }

// Metadata returns the client's metadata. Other calls may share it: it must not be changed.
func (s *Call) Metadata() metadata.MD { return s.req.md }

// Deadline returns the time at which the client stops waiting, if there is one.
func (s *Call) Deadline() (deadline time.Time, ok bool) { return s.deadline, !s.deadline.IsZero() }

// Context returns the context of the call, with everything that grpc-go provides to its handlers.
// It is canceled when the call ends.
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

// endedErr returns the error for a handler that uses its call after the end. The caller holds mu.
func (s *Call) endedErr() error {
	if s.ctx != nil && s.ctx.Err() != nil {
		return contextErr(s.ctx.Err())
	}
	return contextErr(context.Canceled)
}

// remove removes an ended call from the connection. The caller holds mu.
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

// begin counts the call as being handled. The caller holds mu.
func (s *Call) begin() {
	s.handled = true
	s.c.busy++
}

// release undoes begin. The caller holds mu.
func (s *Call) release() {
	if s.handled {
		s.handled = false
		s.c.busy--
	}
}

// leave makes the reader end the connection.
func (c *conn) leave() {
	c.quit.Store(true)
	c.in.Kick()
}
