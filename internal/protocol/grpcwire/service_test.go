package grpcwire

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

const waitForAnswer = time.Minute

// service is the test service. Metadata of the client selects what it does besides echoing.
type service struct {
	testpb.UnimplementedTestServiceServer
	began   chan string   // receives when a handler begins; may be nil
	ended   chan error    // receives the context error of a handler that ended; may be nil
	release chan struct{} // handlers with the request "hold" wait for it
}

// asked returns the first value of a field of the client's metadata.
func asked(ctx context.Context, name string) string {
	if v := metadata.ValueFromIncomingContext(ctx, name); len(v) > 0 {
		return v[0]
	}
	return ""
}

func (s *service) EmptyCall(ctx context.Context, _ *testpb.Empty) (*testpb.Empty, error) {
	if s.began != nil {
		s.began <- "EmptyCall"
	}
	switch asked(ctx, "do") {
	case "panic":
		panic("asked to")
	case "hold":
		select {
		case <-s.release:
		case <-ctx.Done():
		}
	case "wait":
		<-ctx.Done()
		if s.ended != nil {
			s.ended <- ctx.Err()
		}
		return nil, ctx.Err()
	case "plain error":
		return nil, errors.New("no status")
	case "eof":
		return nil, io.EOF
	case "peer":
		p, _ := peer.FromContext(ctx)
		return nil, status.Errorf(codes.OutOfRange, "%v %v", p.Addr.Network(), p.Addr.String() != p.LocalAddr.String())
	case "method":
		m, _ := grpc.Method(ctx)
		return nil, status.Error(codes.OutOfRange, m)
	}
	return &testpb.Empty{}, nil
}

func (s *service) UnaryCall(ctx context.Context, in *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	if md, _ := metadata.FromIncomingContext(ctx); len(md["echo"])+len(md["echo-bin"]) > 0 {
		back := metadata.MD{"echo": md["echo"], "echo-bin": md["echo-bin"]}
		if err := grpc.SetHeader(ctx, back); err != nil {
			return nil, err
		}
		if err := grpc.SetTrailer(ctx, back); err != nil {
			return nil, err
		}
	}
	if want := in.GetResponseStatus(); want.GetCode() != 0 {
		st, err := status.New(codes.Code(want.GetCode()), want.GetMessage()).WithDetails(&testpb.EchoStatus{Code: 7})
		if err != nil || !strings.Contains(want.GetMessage(), "details") {
			return nil, status.Error(codes.Code(want.GetCode()), want.GetMessage())
		}
		return nil, st.Err()
	}
	body := in.GetPayload().GetBody()
	if n := int(in.GetResponseSize()); n > 0 {
		body = pattern(n)
	}
	return &testpb.SimpleResponse{Payload: &testpb.Payload{Body: body}}, nil
}

func (s *service) StreamingOutputCall(in *testpb.StreamingOutputCallRequest, out grpc.ServerStreamingServer[testpb.StreamingOutputCallResponse]) error {
	if s.began != nil {
		s.began <- "StreamingOutputCall"
	}
	for _, p := range in.GetResponseParameters() {
		if err := out.Send(&testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: pattern(int(p.GetSize()))}}); err != nil {
			if s.ended != nil {
				s.ended <- err
			}
			return err
		}
	}
	if asked(out.Context(), "do") == "wait" {
		<-out.Context().Done()
		if s.ended != nil {
			s.ended <- out.Context().Err()
		}
	}
	return nil
}

func (s *service) StreamingInputCall(in grpc.ClientStreamingServer[testpb.StreamingInputCallRequest, testpb.StreamingInputCallResponse]) error {
	if asked(in.Context(), "do") == "hold" {
		select {
		case <-s.release:
		case <-in.Context().Done():
		}
	}
	total := 0
	for {
		m, err := in.Recv()
		if err == io.EOF {
			return in.SendAndClose(&testpb.StreamingInputCallResponse{AggregatedPayloadSize: int32(total)})
		}
		if err != nil {
			return err
		}
		total += len(m.GetPayload().GetBody())
	}
}

func (s *service) FullDuplexCall(both grpc.BidiStreamingServer[testpb.StreamingOutputCallRequest, testpb.StreamingOutputCallResponse]) error {
	if s.began != nil {
		s.began <- "FullDuplexCall"
	}
	for {
		m, err := both.Recv()
		if err == io.EOF {
			both.SetTrailer(metadata.Pairs("total", "all"))
			return nil
		}
		if err != nil {
			if s.ended != nil {
				s.ended <- err
			}
			return err
		}
		if st := m.GetResponseStatus(); st.GetCode() != 0 {
			return status.Error(codes.Code(st.GetCode()), st.GetMessage())
		}
		if err := both.Send(&testpb.StreamingOutputCallResponse{Payload: m.GetPayload()}); err != nil {
			return err
		}
	}
}

// pattern returns n bytes whose values depend on their position.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8) ^ byte(i>>16)
	}
	return b
}

// start serves impl with this package's server and returns its address.
func start(t testing.TB, o Options, impl testpb.TestServiceServer) (srv *Server, addr string) {
	t.Helper()
	srv = New(o)
	testpb.RegisterTestServiceServer(srv, impl)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		srv.Drain(ctx) //nolint:errcheck // it is ended by force
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return srv, ln.Addr().String()
}

// startGo serves impl with grpc-go's server and returns its address.
func startGo(t testing.TB, impl testpb.TestServiceServer, o ...grpc.ServerOption) (addr string) {
	t.Helper()
	srv := grpc.NewServer(o...)
	testpb.RegisterTestServiceServer(srv, impl)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(ln) //nolint:errcheck // it ends with Stop
	t.Cleanup(srv.Stop)
	return ln.Addr().String()
}

func insecureDial() grpc.DialOption { return grpc.WithTransportCredentials(insecure.NewCredentials()) }

func dial(t testing.TB, addr string, o ...grpc.DialOption) testpb.TestServiceClient {
	t.Helper()
	cc, err := grpc.NewClient(addr, append(o, insecureDial())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return testpb.NewTestServiceClient(cc)
}

// within returns a context with a timeout, so that no test hangs.
func within(t testing.TB, pairs ...string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitForAnswer)
	t.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}
