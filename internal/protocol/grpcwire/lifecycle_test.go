package grpcwire

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TestCancel checks that the handler's context ends when the client cancels, whatever the handler
// waits for.
func TestCancel(t *testing.T) {
	svc := &service{began: make(chan string, 1), ended: make(chan error, 1)}
	_, addr := start(t, Options{}, svc)
	client := dial(t, addr)
	calls := map[string]func(ctx context.Context) error{
		"unary": func(ctx context.Context) error {
			_, err := client.EmptyCall(ctx, &testpb.Empty{})
			return err
		},
		"stream that waits for nothing": func(ctx context.Context) error {
			s, err := client.StreamingOutputCall(ctx, &testpb.StreamingOutputCallRequest{})
			if err != nil {
				return err
			}
			_, err = s.Recv()
			return err
		},
		"stream that receives": func(ctx context.Context) error {
			s, err := client.FullDuplexCall(ctx)
			if err != nil {
				return err
			}
			_, err = s.Recv()
			return err
		},
		"stream that sends more than is read": func(ctx context.Context) error {
			in := &testpb.StreamingOutputCallRequest{}
			for range 100 {
				in.ResponseParameters = append(in.ResponseParameters, &testpb.ResponseParameters{Size: 1 << 20})
			}
			s, err := client.StreamingOutputCall(ctx, in)
			if err != nil {
				return err
			}
			<-ctx.Done()
			for err == nil {
				_, err = s.Recv()
			}
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(within(t, "do", "wait"))
			answer := make(chan error, 1)
			go func() { answer <- call(ctx) }()
			<-svc.began
			cancel()
			if err := <-answer; status.Code(err) != codes.Canceled {
				t.Errorf("the client got %v", err)
			}
			select {
			case err := <-svc.ended:
				if !errors.Is(err, context.Canceled) && status.Code(err) != codes.Canceled {
					t.Errorf("the handler got %v", err)
				}
			case <-time.After(waitForAnswer):
				t.Error("the handler was not told")
			}
		})
	}
}

// TestGone checks that the contexts of all handlers end when the connection dies.
func TestGone(t *testing.T) {
	svc := &service{began: make(chan string, 2), ended: make(chan error, 2)}
	_, addr := start(t, Options{}, svc)
	r := dialRaw(t, addr, true)
	r.headers(1, false, with("do", "wait")...)
	r.ok(r.fr.WriteData(1, true, message5(0, nil)))
	r.headers(3, false, with(":path", "/grpc.testing.TestService/FullDuplexCall")...)
	<-svc.began
	<-svc.began
	r.nc.Close()
	for range 2 {
		select {
		case <-svc.ended:
		case <-time.After(waitForAnswer):
			t.Fatal("a handler was not told")
		}
	}
}

// TestPanic checks that a panic of a handler fails only its call.
func TestPanic(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	client := dial(t, addr)
	if _, err := client.EmptyCall(within(t, "do", "panic"), &testpb.Empty{}); status.Code(err) != codes.Internal {
		t.Errorf("got %v", err)
	}
	if _, err := client.EmptyCall(within(t), &testpb.Empty{}); err != nil {
		t.Error(err)
	}
}

// TestDrain checks that a running call may finish, that further calls on the connection are
// refused, and that the drain ends when no call is left.
func TestDrain(t *testing.T) {
	svc := &service{began: make(chan string, 1), release: make(chan struct{})}
	srv, addr := start(t, Options{}, svc)
	client := dial(t, addr)
	idle := dial(t, addr) // has no open call
	if _, err := idle.UnaryCall(within(t), &testpb.SimpleRequest{}); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := client.EmptyCall(within(t, "do", "hold"), &testpb.Empty{})
		answer <- err
	}()
	<-svc.began
	drained := make(chan error, 1)
	go func() { drained <- srv.Drain(within(t)) }()
	raw := dialUntilRefused(t, addr)
	if raw != nil {
		t.Error("a connection was accepted during the drain")
	}
	select {
	case err := <-drained:
		t.Fatalf("drained with a call open: %v", err)
	default:
	}
	close(svc.release)
	if err := <-answer; err != nil {
		t.Errorf("the open call: %v", err)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// TestDrainFrames checks the frames of a drain on one connection.
func TestDrainFrames(t *testing.T) {
	svc := &service{began: make(chan string, 8), release: make(chan struct{})}
	srv, addr := start(t, Options{}, svc)
	r := dialRaw(t, addr, true)
	r.headers(1, false, with("do", "hold")...)
	r.ok(r.fr.WriteData(1, true, message5(0, nil)))
	<-svc.began
	drained := make(chan error, 1)
	go func() { drained <- srv.Drain(within(t)) }()
	f, err := r.next()
	if g, ok := f.(*http2.GoAwayFrame); !ok || g.LastStreamID != mostWindow || g.ErrCode != http2.ErrCodeNo {
		t.Fatalf("%v, %v", f, err)
	}
	// A call in flight is accepted.
	r.headers(3, false, with()...)
	r.ok(r.fr.WriteData(3, true, message5(0, nil)))
	if got := r.transcript(3); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
	r.ok(r.fr.WritePing(true, drainPing))
	f, err = r.next()
	if g, ok := f.(*http2.GoAwayFrame); !ok || g.LastStreamID != 3 {
		t.Fatalf("%v, %v", f, err)
	}
	r.headers(5, true, with()...) // ignored from now on
	close(svc.release)
	if got := r.transcript(1); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
	if f, err := r.next(); err != io.EOF {
		t.Errorf("after the last call: %v, %v", f, err)
	}
	r.nc.Close()
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// TestManyCalls runs several hundred calls and streams on one connection at once.
func TestManyCalls(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	client := dial(t, addr)
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			ctx := within(t)
			if i%3 == 0 {
				if got, err := echoes(ctx, client); err != nil || got != "3" {
					t.Errorf("stream: %s, %v", got, err)
				}
				return
			}
			body := pattern(i * 500)
			out, err := client.UnaryCall(ctx, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: body}})
			if err != nil || len(out.GetPayload().GetBody()) != len(body) {
				t.Errorf("unary: %v", err)
			}
		})
	}
	wg.Wait()
}

// TestStreamLimit checks that the limit covers open calls and calls that the client has reset while
// their handlers run.
func TestStreamLimit(t *testing.T) {
	svc := &service{began: make(chan string, 4), release: make(chan struct{})}
	_, addr := start(t, Options{MaxStreams: 2}, svc)
	t.Run("open", func(t *testing.T) {
		r := dialRaw(t, addr, true)
		for id := uint32(1); id <= 5; id += 2 {
			r.headers(id, false, with()...)
		}
		if got := r.transcript(5); got != "reset REFUSED_STREAM" {
			t.Error(got)
		}
	})
	t.Run("reset", func(t *testing.T) {
		app := &stubborn{}
		_, addr := start(t, Options{MaxStreams: 2, NewConn: func(ConnInfo) Conn { return app }}, svc)
		r := dialRaw(t, addr, true)
		for id := uint32(1); id <= 5; id += 2 {
			r.headers(id, false, with()...)
			r.ok(r.fr.WriteData(id, true, message5(0, nil)))
			if id < 5 {
				r.ok(r.fr.WriteRSTStream(id, http2.ErrCodeCancel))
			}
		}
		if got := r.transcript(5); got != "reset REFUSED_STREAM" {
			t.Error(got)
		}
		app.answer()
		r.headers(7, false, with()...)
		r.ok(r.fr.WriteData(7, true, message5(0, nil)))
		app.answerNext(r, t)
	})
}

// TestHeaderLimit checks that a call with too many headers is refused and the connection survives.
func TestHeaderLimit(t *testing.T) {
	_, addr := start(t, Options{MaxHeaderBytes: 2000}, &service{})
	r := dialRaw(t, addr, true)
	fields := with()
	for range 60 {
		fields = append(fields, "a", "b")
	}
	r.headers(1, true, fields...)
	if got := r.transcript(1); got != "reset FRAME_SIZE_ERROR" {
		t.Error(got)
	}
	r.headers(3, false, with()...)
	r.ok(r.fr.WriteData(3, true, message5(0, nil)))
	if got := r.transcript(3); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
}

// TestSmallHeaders uses a client that accepts only small headers.
func TestSmallHeaders(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	r := dialRaw(t, addr, true)
	r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 200}))
	r.headers(1, false, with(":path", "/grpc.testing.TestService/UnaryCall", "echo", string(make([]byte, 0))+"0123456789", "echo", "x")...)
	r.ok(r.fr.WriteData(1, true, message5(0, nil)))
	if got := r.transcript(1); got == "reset INTERNAL_ERROR" {
		t.Error(got)
	}
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'x'
	}
	r.headers(3, false, with(":path", "/grpc.testing.TestService/UnaryCall", "echo", string(long))...)
	r.ok(r.fr.WriteData(3, true, message5(0, nil)))
	if got := r.transcript(3); got != "reset INTERNAL_ERROR" {
		t.Error(got)
	}
}

// TestTableSizes changes the size of the client's HPACK table, before and after the server has
// added fields to it.
func TestTableSizes(t *testing.T) {
	for _, size := range []uint32{0, 10, 200, 4095, 4096, 1 << 20} {
		_, addr := start(t, Options{}, &service{})
		for _, before := range []bool{true, false} {
			r := dialRaw(t, addr, true)
			if before {
				r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: size}))
				r.dec.SetAllowedMaxDynamicTableSize(size)
			}
			for id := uint32(1); id < 9; id += 2 {
				if id == 5 && !before {
					r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: size}))
					r.dec.SetAllowedMaxDynamicTableSize(size)
				}
				r.headers(id, false, with()...)
				r.ok(r.fr.WriteData(id, true, message5(0, nil)))
				if got := r.transcript(id); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
					t.Errorf("size %d, before the first call %v, call %d: %s", size, before, id, got)
				}
			}
		}
	}
}

// TestKnownBlocks checks that cached header blocks follow changes of the client's table.
func TestKnownBlocks(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	r := dialRaw(t, addr, true)
	for i, path := range []string{"EmptyCall", "EmptyCall", "EmptyCall", "Other", "EmptyCall", "Other", "Other"} {
		id := uint32(2*i + 1)
		want := "{:status=200}, 5 bytes, {grpc-status=0}"
		if path == "Other" {
			want = "{:status=200 grpc-status=12 unknown method Other for service grpc.testing.TestService}"
		}
		r.headers(id, false, with(":path", "/grpc.testing.TestService/"+path)...)
		r.ok(r.fr.WriteData(id, true, message5(0, nil)))
		if got := r.transcript(id); got != want {
			t.Errorf("call %d, %s: %s", i, path, got)
		}
	}
}

// TestMetadataIsShared checks that calls with the same headers have separate copies of the
// metadata.
func TestMetadataIsShared(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	client := dial(t, addr)
	for range 3 {
		var header metadata.MD
		_, err := client.UnaryCall(within(t, "echo", "same"), &testpb.SimpleRequest{}, headerOption(&header))
		if err != nil || len(header["echo"]) != 1 {
			t.Errorf("%v, %v", header, err)
		}
	}
}

// TestAbandon checks that open calls end with the configured status, and then their connections. A
// call whose client has received part of a message ends with the connection. Later answers of
// handlers are not sent.
func TestAbandon(t *testing.T) {
	const path = "/grpc.testing.TestService/"
	svc := &service{began: make(chan string, 3), ended: make(chan error, 3)}
	srv, addr := start(t, Options{Abandoned: status.New(codes.Unavailable, "gone")}, svc)
	r, idle, stranger := dialRaw(t, addr, true), dialRaw(t, addr, true), dialRaw(t, addr, false)
	call := func(id uint32, method string, in []byte) {
		r.headers(id, false, with(":path", path+method, "do", "wait")...)
		r.ok(r.fr.WriteData(id, true, message5(0, in)))
		<-svc.began
	}
	large := &testpb.StreamingOutputCallRequest{ResponseParameters: []*testpb.ResponseParameters{{Size: 1 << 20}}}
	call(1, "EmptyCall", nil)
	call(3, "StreamingOutputCall", nil)
	call(5, "StreamingOutputCall", encode(t, large))
	half := 0
	for half < firstWindow {
		if f, ok := r.nextFrame().(*http2.DataFrame); ok && f.StreamID == 5 {
			half += len(f.Data())
		}
	}
	r.ok(idle.fr.WritePing(false, [8]byte{}))
	idle.nextFrame()
	srv.Abandon()
	for range 3 {
		if err := <-svc.ended; err == nil {
			t.Error("a handler is not told")
		}
	}
	said := map[uint32]string{}
	for {
		f, err := r.next()
		if err != nil {
			break
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			said[f.StreamID] += answerFields(r.fields)
		default:
			said[f.Header().StreamID] += f.Header().Type.String()
		}
	}
	const gone = "{:status=200 gone grpc-status=14}"
	if want := map[uint32]string{1: gone, 3: gone, 0: "GOAWAY"}; !maps.Equal(said, want) {
		t.Errorf("the client hears %v, want %v", said, want)
	}
	if got := idle.transcript(1); got != "goaway NO_ERROR, closed" {
		t.Errorf("an idle client hears %s", got)
	}
	for _, c := range []*raw{stranger, dialRaw(t, addr, false)} {
		if got := c.transcript(1); got != "closed" {
			t.Errorf("a client that has said nothing hears %s", got)
		}
	}
}
