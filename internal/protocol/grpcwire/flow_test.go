package grpcwire

import (
	"bytes"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	testpb "google.golang.org/grpc/interop/grpc_testing"
)

// counting counts the messages that a stream's handler has sent.
type counting struct {
	service
	sent chan int
}

func (s *counting) StreamingOutputCall(in *testpb.StreamingOutputCallRequest, out grpc.ServerStreamingServer[testpb.StreamingOutputCallResponse]) error {
	for i := range in.GetResponseParameters() {
		if err := out.Send(&testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: pattern(10_000)}}); err != nil {
			return err
		}
		s.sent <- i
	}
	return nil
}

// TestSlowReader checks that SendMsg blocks for a client that reads nothing, while other calls of
// the connection go on.
func TestSlowReader(t *testing.T) {
	svc := &counting{sent: make(chan int, 1000)}
	_, addr := start(t, Options{}, svc)
	r := dialRaw(t, addr, true)
	in := &testpb.StreamingOutputCallRequest{}
	const n = 200
	for range n {
		in.ResponseParameters = append(in.ResponseParameters, &testpb.ResponseParameters{Size: 1})
	}
	r.headers(1, false, with(":path", "/grpc.testing.TestService/StreamingOutputCall")...)
	r.ok(r.fr.WriteData(1, true, message5(0, encode(t, in))))
	r.ok(r.fr.WriteWindowUpdate(0, 1<<20))
	got := 0
	for got < firstWindow { // the stream's window
		if f, ok := r.nextFrame().(*http2.DataFrame); ok {
			got += len(f.Data())
		}
	}
	r.headers(3, false, with()...)
	r.ok(r.fr.WriteData(3, true, message5(0, nil)))
	if said := r.transcript(3); said != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(said)
	}
	if most := (firstWindow+PushFull)/10_000 + 2; len(svc.sent) > most {
		t.Errorf("the handler has sent %d messages, at most %d fit", len(svc.sent), most)
	}
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}))
	r.ok(r.fr.WriteWindowUpdate(1, 2<<20))
	r.ok(r.fr.WriteWindowUpdate(0, 2<<20))
	for {
		f := r.nextFrame()
		if d, ok := f.(*http2.DataFrame); ok {
			got += len(d.Data())
		}
		if h, ok := f.(*http2.HeadersFrame); ok && h.StreamEnded() {
			break
		}
	}
	if one := len(message5(0, encode(t, &testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: pattern(10_000)}}))); got != n*one {
		t.Errorf("%d bytes came, want %d", got, n*one)
	}
}

// TestWindows opens the windows of the stream and of the connection by a few bytes at a time,
// shrinks them below zero, and updates them in any order.
func TestWindows(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	r := dialRaw(t, addr, true)
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10}))
	body := pattern(500)
	r.headers(1, false, with(":path", "/grpc.testing.TestService/UnaryCall")...)
	r.ok(r.fr.WriteData(1, true, message5(0, encode(t, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: body}}))))
	want := message5(0, encode(t, &testpb.SimpleResponse{Payload: &testpb.Payload{Body: body}}))
	var got []byte
	take := func(n int) {
		for n > 0 {
			f := r.nextFrame()
			if d, ok := f.(*http2.DataFrame); ok {
				got, n = append(got, d.Data()...), n-len(d.Data())
			}
		}
		if n < 0 {
			t.Fatalf("%d bytes more than the window", -n)
		}
	}
	take(10)
	r.ok(r.fr.WriteWindowUpdate(1, 1))
	take(1)
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 5})) // now at -5
	r.ok(r.fr.WriteWindowUpdate(1, 5))
	r.ok(r.fr.WriteWindowUpdate(1, 3))
	take(3)
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 105}))
	take(100)
	r.ok(r.fr.WriteWindowUpdate(1, 1000))
	take(len(want) - len(got))
	if !bytes.Equal(got, want) {
		t.Error("the answer is not whole")
	}
	if said := r.transcript(1); said != "{grpc-status=0}" {
		t.Error(said)
	}
}

// TestSlowHandler checks that the client waits for a handler that reads nothing, while other calls
// of the connection go on.
func TestSlowHandler(t *testing.T) {
	svc := &service{release: make(chan struct{})}
	_, addr := start(t, Options{StreamWindow: 100_000}, svc)
	client := dial(t, addr)
	s, err := client.StreamingInputCall(within(t, "do", "hold"))
	if err != nil {
		t.Fatal(err)
	}
	const n, size = 300, 10_000
	sent := make(chan error, 1)
	go func() {
		for range n {
			if err := s.Send(&testpb.StreamingInputCallRequest{Payload: &testpb.Payload{Body: make([]byte, size)}}); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for range 50 {
		if _, err := client.EmptyCall(within(t), &testpb.Empty{}); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-sent:
		t.Fatalf("all was sent to a handler that takes nothing: %v", err)
	default:
	}
	close(svc.release)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	out, err := s.CloseAndRecv()
	if err != nil || out.GetAggregatedPayloadSize() != n*size {
		t.Errorf("%v, %v", out, err)
	}
}

// TestPeeked starts a session on a connection whose first bytes were already read.
func TestPeeked(t *testing.T) {
	srv := New(Options{})
	testpb.RegisterTestServiceServer(srv, &service{})
	for _, peek := range []int{1, 24, 60, 1000} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r := dialRaw(t, ln.Addr().String(), true)
		r.headers(1, false, with()...)
		r.ok(r.fr.WriteData(1, true, message5(0, nil)))
		nc, err := ln.Accept()
		ln.Close()
		if err != nil {
			t.Fatal(err)
		}
		read := make([]byte, peek)
		k, err := nc.Read(read)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		session := srv.Session(nc, 1, read[:k])
		go func() {
			session.Serve()
			close(ended)
		}()
		if got := r.transcript(1); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
			t.Errorf("%d bytes peeked: %s", peek, got)
		}
		session.Kill()
		<-ended
	}
}
