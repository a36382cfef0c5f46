package grpcwire

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func headerOption(md *metadata.MD) grpc.CallOption { return grpc.Header(md) }

// dialUntilRefused connects until the port is closed.
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

// stubborn accepts calls and answers them only when told to.
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
func (*stubborn) Admit(*Call) error { return nil }
func (a *stubborn) Flush()          {}
func (a *stubborn) Closed()         {}

// answer answers all accepted calls.
func (a *stubborn) answer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		c.Reply(&testpb.Empty{})
	}
	a.calls = nil
}

// answerNext answers call 7 once it has arrived.
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

// echoApp answers UnaryCall in the way that the request's user name selects.
type echoApp struct {
	t       testing.TB
	later   []func() // answers delayed until Flush
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
		c.Reply(out) // ignored: the call is over
	case "twice":
		c.Reply(out)
		c.Reply(out)
		c.Fail(errors.New("too late"))
	case "headers":
		c.SetHeader(metadata.Pairs("h", "1"))  //nolint:errcheck // the test checks the result
		c.SetTrailer(metadata.Pairs("t", "2")) //nolint:errcheck // the test checks the result
		c.Reply(out)
	case "deadline":
		_, ok := c.Deadline()
		_, inContext := c.Context().Deadline()
		if !ok || !inContext {
			c.Fail(status.Error(codes.Internal, "the context is not whole"))
			return true
		}
		c.Reply(out)
	}
	return true
}

func (*echoApp) Admit(*Call) error { return nil }
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

// gatherer answers StreamingOutputCall with gathered messages, and notes concurrent writes.
type gatherer struct {
	service
	writes *atomic.Int32
	early  int32
}

func (g *gatherer) StreamingOutputCall(in *testpb.StreamingOutputCallRequest, out grpc.ServerStreamingServer[testpb.StreamingOutputCallResponse]) error {
	return Gather(out.Context(), func() error {
		synctest.Wait() // everything earlier is written
		before := g.writes.Load()
		for range 3 {
			if err := out.Send(&testpb.StreamingOutputCallResponse{}); err != nil {
				return err
			}
			synctest.Wait()
		}
		g.early = g.writes.Load() - before
		for _, p := range in.GetResponseParameters() {
			m := &testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: pattern(int(p.GetSize()))}}
			if err := out.Send(m); err != nil {
				return err
			}
		}
		return nil
	})
}

// manyWrites counts the writes to a connection.
type manyWrites struct {
	net.Conn
	n atomic.Int32
}

func (w *manyWrites) Write(b []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(b)
}

// TestGather checks that gathered messages leave together, also to a slow client: when a sender has
// to wait for room, its earlier messages are written first.
func TestGather(t *testing.T) { synctest.Test(t, testGather) }

func testGather(t *testing.T) {
	ours, theirs := net.Pipe()
	counted := &manyWrites{Conn: ours}
	g := &gatherer{writes: &counted.n}
	srv := New(Options{})
	testpb.RegisterTestServiceServer(srv, g)
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Session(counted, 1, nil).Serve()
	}()
	r := rawOn(t, theirs)
	bytes, over := 0, make(chan struct{})
	ended := reading(r, func(f http2.Frame) {
		switch f := f.(type) {
		case *http2.DataFrame:
			bytes += len(f.Data())
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				close(over)
			}
		}
	})
	r.write([]byte(http2.ClientPreface))
	const n, size = 100, 30_000
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30}))
	r.ok(r.fr.WriteWindowUpdate(0, 1<<30))
	in := &testpb.StreamingOutputCallRequest{}
	for range n {
		in.ResponseParameters = append(in.ResponseParameters, &testpb.ResponseParameters{Size: size})
	}
	r.headers(1, false, with(":path", testpb.TestService_StreamingOutputCall_FullMethodName)...)
	r.ok(r.fr.WriteData(1, true, message5(0, encode(t, in))))
	<-over
	r.nc.Close()
	<-served
	<-ended
	if g.early != 0 || bytes < n*size {
		t.Errorf("%d writes while three messages were gathered, %d bytes came", g.early, bytes)
	}
}
