package grpcwire

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// serverStream implements grpc.ServerStream for the handler of a streaming call.
type serverStream struct {
	*Call
	ctx  context.Context
	desc *grpc.StreamDesc
	got  bool // RecvMsg has received a message
}

func (s *serverStream) Context() context.Context { return s.ctx }

func (s *serverStream) SetHeader(md metadata.MD) error {
	if err := checkMetadata(md); err != nil {
		return err
	}
	return s.Call.SetHeader(md)
}

func (s *serverStream) SendHeader(md metadata.MD) error {
	if err := checkMetadata(md); err != nil {
		return err
	}
	return s.Call.SendHeader(md)
}

func (s *serverStream) SetTrailer(md metadata.MD) {
	if err := checkMetadata(md); err != nil {
		s.c.srv.o.Log.Error("grpc: a handler set an invalid trailer", "method", s.req.path, "err", err)
	}
	s.Call.SetTrailer(md) //nolint:errcheck // after the end of the call it has no effect
}

// SendMsg implements grpc.ServerStream. It blocks while too many bytes wait for the client.
func (s *serverStream) SendMsg(m any) error {
	err := s.sendMsg(m)
	if err != nil {
		s.abort(err)
	}
	return err
}

func (s *serverStream) sendMsg(m any) error {
	c, o := s.c, s.outgoing(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	for !s.ended && s.crowded(PushFull) {
		if s.room == nil {
			s.room = make(chan struct{}, 1)
		}
		s.join()
		c.out.signal() // the caller may be gathering
		c.mu.Unlock()
		select {
		case <-s.room:
		case <-s.ctx.Done():
		}
		c.mu.Lock()
		if err := s.ctx.Err(); err != nil {
			return contextErr(err)
		}
	}
	if s.ended || s.last != nil {
		return s.endedErr()
	}
	return c.sendMessage(s.Call, o)
}

// abort ends the call with the error that SendMsg or RecvMsg returns.
func (s *serverStream) abort(err error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.end(s.Call, statusOf(err))
}

// RecvMsg implements grpc.ServerStream.
func (s *serverStream) RecvMsg(m any) error {
	err := streamErr(s.recvMsg(m))
	if err != nil && err != io.EOF {
		s.abort(err)
	}
	return err
}

func (s *serverStream) recvMsg(m any) error {
	in, err := s.receive()
	if errors.Is(err, io.EOF) && !s.desc.ClientStreams && !s.got {
		return status.Error(codes.Internal, "cardinality violation: received no request message from non-client-streaming RPC")
	}
	if err != nil {
		return err
	}
	b, err := s.open(in)
	if err != nil {
		return err
	}
	if err := s.decode(b, m); err != nil {
		return status.Errorf(codes.Internal, "grpc: failed to unmarshal the received message: %v", err)
	}
	s.got = true
	if s.desc.ClientStreams {
		return nil
	}
	switch _, err := s.receive(); {
	case err == nil:
		return status.Error(codes.Internal, "cardinality violation: received multiple request messages for non-client-streaming RPC")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// receive waits for the next message.
func (s *serverStream) receive() (message, error) {
	for {
		if m, ok, err := s.next(); ok || err != nil {
			return m, err
		}
		select {
		case <-s.arrived:
		case <-s.ctx.Done():
			return message{}, contextErr(s.ctx.Err())
		}
	}
}

// next takes a message from the inbox.
func (s *serverStream) next() (m message, ok bool, err error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if len(s.inbox) == 0 {
		return m, false, s.inErr
	}
	m = s.inbox[0]
	s.inbox = s.inbox[1:]
	s.held -= m.weight()
	s.c.letGo(m.weight())
	s.giveWindow()
	return m, true, nil
}

// waiting returns how many bytes the client has not received: those that its windows hold back and,
// if they are many, those of the whole connection. The caller holds mu.
func (s *Call) waiting() int {
	n := len(s.queue)
	if size := s.c.out.size(); size > fullOut {
		n += size
	}
	if n > 0 && s.c.answersFull() {
		n += PushFull // each stream gets one message through, but no more
	}
	return n
}

// crowded reports whether more than limit bytes wait. The caller holds mu.
func (s *Call) crowded(limit int) bool { return s.waiting() > limit && !s.c.out.failed }

// join registers the call for tellRoom. The caller holds mu.
func (s *Call) join() {
	if !s.crowding {
		s.crowding = true
		s.c.send.crowd = append(s.c.send.crowd, s)
	}
}

// tellRoom wakes the waiting sender if there is room, and reports whether the call is done waiting.
// The caller holds mu.
func (s *Call) tellRoom() bool {
	if !s.ended && s.crowded(PushFull/2) {
		return false
	}
	s.crowding = false
	select {
	case s.room <- struct{}{}:
	default:
	}
	return true
}
