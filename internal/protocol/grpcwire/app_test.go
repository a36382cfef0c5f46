package grpcwire

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func headerOption(md *metadata.MD) grpc.CallOption { return grpc.Header(md) }

// dialUntilRefused connects until nobody listens any more.
func dialUntilRefused(t *testing.T, addr string) net.Conn {
	t.Helper()
	for deadline := time.Now().Add(waitForAnswer); time.Now().Before(deadline); {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			return nil
		}
		nc.Close()
	}
	return &net.TCPConn{}
}

// stubborn takes calls and answers when it is told to.
type stubborn struct {
	mu    sync.Mutex
	calls []*Call
}

func (a *stubborn) Unary(c *Call, _ []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, c)
	return true
}
func (a *stubborn) Flush()  {}
func (a *stubborn) Closed() {}

// answer answers all that was taken.
func (a *stubborn) answer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		c.Reply(&testpb.Empty{})
	}
	a.calls = nil
}

// answerNext answers call 7, once it is there.
func (a *stubborn) answerNext(r *raw, t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				a.answer()
			}
		}
	}()
	if got := r.transcript(7); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
}

// echoApp answers UnaryCall in the way that the request's user name asks for.
type echoApp struct {
	t       testing.TB
	later   []func() // answers that wait for Flush
	flushes int
	closed  chan struct{}
}

func (a *echoApp) Unary(c *Call, in []byte) bool {
	if !strings.HasSuffix(c.Method(), "/UnaryCall") {
		return false
	}
	var m testpb.SimpleRequest
	if err := proto.Unmarshal(in, &m); err != nil {
		c.Fail(status.Error(codes.InvalidArgument, "no protobuf"))
		return true
	}
	out := &testpb.SimpleResponse{Payload: m.GetPayload(), Username: "app"}
	how := ""
	if v := c.Metadata()["how"]; len(v) > 0 {
		how = v[0]
	}
	switch how {
	case "":
		return false
	case "now":
		c.Reply(out)
	case "flush":
		a.later = append(a.later, func() { c.Reply(out) })
	case "goroutine":
		go c.Reply(out)
	case "bytes":
		c.ReplyBytes(func(dst []byte) ([]byte, error) { return proto.MarshalOptions{}.MarshalAppend(dst, out) })
	case "fail":
		c.Fail(errors.New("plain"))
		c.Reply(out) // too late
	case "twice":
		c.Reply(out)
		c.Reply(out)
		c.Fail(errors.New("too late"))
	case "headers":
		c.SetHeader(metadata.Pairs("h", "1"))  //nolint:errcheck // the test looks
		c.SetTrailer(metadata.Pairs("t", "2")) //nolint:errcheck // the test looks
		c.Reply(out)
	case "deadline":
		_, ok := c.Deadline()
		_, inContext := c.Context().Deadline()
		if !ok || !inContext || ConnFrom(c.Context()) != a {
			c.Fail(status.Error(codes.Internal, "the context is not whole"))
			return true
		}
		c.Reply(out)
	}
	return true
}

func (a *echoApp) Flush() {
	for _, f := range a.later {
		f()
	}
	a.later = nil
	a.flushes++
}

func (a *echoApp) Closed() { close(a.closed) }

func TestApplication(t *testing.T) {
	app := &echoApp{t: t, closed: make(chan struct{})}
	_, addr := start(t, Options{NewConn: func(i ConnInfo) Conn {
		if i.Peer.Addr == nil || i.ID == 0 {
			t.Errorf("told %+v", i)
		}
		return app
	}}, &service{})
	cc, err := grpc.NewClient(addr, insecureDial())
	if err != nil {
		t.Fatal(err)
	}
	client := testpb.NewTestServiceClient(cc)
	for _, how := range []string{"now", "flush", "goroutine", "bytes", "fail", "twice", "headers", "deadline", ""} {
		for _, size := range []int{0, 200, 300_000} {
			var header, trailer metadata.MD
			ctx := within(t)
			if how != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "how", how)
			}
			out, err := client.UnaryCall(ctx, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: pattern(size)}}, grpc.Header(&header), grpc.Trailer(&trailer))
			switch {
			case how == "fail":
				if status.Code(err) != codes.Unknown || status.Convert(err).Message() != "plain" {
					t.Errorf("fail: %v", err)
				}
				continue
			case err != nil:
				t.Errorf("%q, %d bytes: %v", how, size, err)
				continue
			}
			if !bytes.Equal(out.GetPayload().GetBody(), pattern(size)) || (out.GetUsername() == "app") != (how != "") {
				t.Errorf("%q, %d bytes: wrong answer by %q", how, size, out.GetUsername())
			}
			if got := len(header["h"]) + len(trailer["t"]); got != map[bool]int{true: 2}[how == "headers"] {
				t.Errorf("%q: headers %v, trailers %v", how, header, trailer)
			}
		}
	}
	cc.Close()
	select {
	case <-app.closed:
	case <-time.After(waitForAnswer):
		t.Error("Closed was not called")
	}
}

// gatherer answers StreamingOutputCall with messages that it gathers, ten by ten.
type gatherer struct{ service }

func (*gatherer) StreamingOutputCall(in *testpb.StreamingOutputCallRequest, out grpc.ServerStreamingServer[testpb.StreamingOutputCallResponse]) error {
	for params := range slices.Chunk(in.GetResponseParameters(), 10) {
		err := Gather(out.Context(), func() error {
			for _, p := range params {
				m := &testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: pattern(int(p.GetSize()))}}
				if err := out.Send(m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// manyWrites counts what is written to a connection.
type manyWrites struct {
	net.Conn
	n atomic.Int32
}

func (w *manyWrites) Write(b []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(b)
}

// TestGather has messages leave together, and none of them late, also to a client that does not read for a while.
func TestGather(t *testing.T) {
	srv := New(Options{})
	testpb.RegisterTestServiceServer(srv, &gatherer{})
	ours, theirs := net.Pipe()
	counted := &manyWrites{Conn: ours}
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Session(counted, 1, nil).Serve()
	}()
	cc, err := grpc.NewClient("passthrough:pipe", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return theirs, nil }))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int32{10, 30_000} {
		in := &testpb.StreamingOutputCallRequest{}
		const n = 400
		for range n {
			in.ResponseParameters = append(in.ResponseParameters, &testpb.ResponseParameters{Size: size})
		}
		before := counted.n.Load()
		s, err := testpb.NewTestServiceClient(cc).StreamingOutputCall(within(t), in)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if m, err := s.Recv(); err != nil || len(m.GetPayload().GetBody()) != int(size) {
				t.Fatalf("a message of %d bytes: %v", size, err)
			}
		}
		if writes := counted.n.Load() - before; size < 100 && writes > n/5 {
			t.Errorf("%d writes for %d small messages", writes, n)
		}
	}
	cc.Close()
	<-served
}
