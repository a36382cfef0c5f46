package inproc

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// ahead is how many messages either side of a stream may send ahead of the receiver before sending
// blocks.
const ahead = 16

// stream is a stream between a caller and the goroutine of a method.
type stream struct {
	info     *callInfo
	ctx      context.Context // of the caller
	toServer chan proto.Message
	toClient chan proto.Message // closed when the method has returned and its status is set
	begun    chan struct{}      // closed when the header is sent
	begin    sync.Once
	closing  sync.Once
	over     chan struct{} // closed when the method has returned
	err      error         // of the method, valid after over or toClient is closed
}

// NewStream begins a stream. It ends when its method returns. To leave it early, cancel ctx.
func (c *Conn) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	m, ok := c.streams[method]
	if !ok {
		return nil, status.Errorf(codes.Unimplemented, "unknown method %s", method)
	}
	s := &stream{
		info: &callInfo{method: method}, ctx: ctx, begun: make(chan struct{}), over: make(chan struct{}),
		toServer: make(chan proto.Message, ahead), toClient: make(chan proto.Message, ahead),
	}
	inside, cancel := context.WithCancel(serverContext(ctx, s.info))
	go func() {
		s.err = withStatus(c.run(m, serverStream{s, inside}))
		close(s.over)
		cancel()
		s.sendHeader()
		s.info.tell(opts)
		close(s.toClient)
	}()
	return clientStream{s}, nil
}

func (c *Conn) run(m streamMethod, ss grpc.ServerStream) error {
	if c.interceptStream == nil {
		return m.desc.Handler(m.service, ss)
	}
	info := &grpc.StreamServerInfo{
		FullMethod:     ss.(serverStream).info.method,
		IsClientStream: m.desc.ClientStreams, IsServerStream: m.desc.ServerStreams,
	}
	return c.interceptStream(m.service, ss, info, m.desc.Handler)
}

func (s *stream) sendHeader() { s.begin.Do(func() { close(s.begun) }) }

// serverStream is the method's side of a stream.
type serverStream struct {
	*stream
	inside context.Context
}

func (s serverStream) Context() context.Context       { return s.inside }
func (s serverStream) SetHeader(md metadata.MD) error { return s.info.SetHeader(md) }
func (s serverStream) SetTrailer(md metadata.MD)      { _ = s.info.SetTrailer(md) }

func (s serverStream) SendHeader(md metadata.MD) error {
	err := s.info.SetHeader(md)
	s.sendHeader()
	return err
}

func (s serverStream) SendMsg(m any) error {
	s.sendHeader()
	select {
	case s.toClient <- proto.Clone(m.(proto.Message)):
		return nil
	case <-s.inside.Done():
		return withStatus(s.inside.Err())
	}
}

func (s serverStream) RecvMsg(m any) error {
	select {
	case sent, ok := <-s.toServer:
		if !ok {
			return io.EOF
		}
		return copyMessage(m, sent)
	case <-s.inside.Done():
		return withStatus(s.inside.Err())
	}
}

// clientStream is the caller's side of a stream.
type clientStream struct{ *stream }

func (s clientStream) Context() context.Context { return s.ctx }

func (s clientStream) Header() (metadata.MD, error) {
	select {
	case <-s.begun:
		header, _ := s.info.both()
		return header, nil
	case <-s.ctx.Done():
		return nil, withStatus(s.ctx.Err())
	}
}

func (s clientStream) Trailer() metadata.MD {
	_, trailer := s.info.both()
	return trailer
}

func (s clientStream) CloseSend() error {
	s.closing.Do(func() { close(s.toServer) })
	return nil
}

// SendMsg returns io.EOF after the end of the method; RecvMsg returns the reason.
func (s clientStream) SendMsg(m any) error {
	select {
	case <-s.over:
		return io.EOF
	default:
	}
	select {
	case <-s.over:
		return io.EOF
	case s.toServer <- proto.Clone(m.(proto.Message)):
		return nil
	case <-s.ctx.Done():
		return withStatus(s.ctx.Err())
	}
}

// RecvMsg returns io.EOF after the last message if the method succeeded.
func (s clientStream) RecvMsg(m any) error {
	select {
	case sent, ok := <-s.toClient:
		switch {
		case ok:
			return copyMessage(m, sent)
		case s.err != nil:
			return s.err
		}
		return io.EOF
	case <-s.ctx.Done():
		return withStatus(s.ctx.Err())
	}
}
