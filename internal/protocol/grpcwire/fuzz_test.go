package grpcwire

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	testpb "google.golang.org/grpc/interop/grpc_testing"

	"fiveways.dev/fiveways/internal/logtest"
)

// FuzzConnection sends arbitrary bytes after the preface: the server may close the
// connection, but must neither panic nor hang. Panics are recovered and logged.
func FuzzConnection(f *testing.F) {
	r := rawOn(f, nil)
	seed := func(frames ...[]byte) { f.Add(bytes.Join(frames, nil)) }
	settings := appendFrame(nil, http2.FrameSettings, 0, 0)
	call := func(id uint32, path string) []byte {
		return appendFrame(nil, http2.FrameHeaders, http2.FlagHeadersEndHeaders, id, r.block(with(":path", "/grpc.testing.TestService/"+path)...)...)
	}
	empty := appendFrame(nil, http2.FrameData, http2.FlagDataEndStream, 1, message5(0, nil)...)
	seed(settings, call(1, "EmptyCall"), empty)
	seed(settings, call(1, "FullDuplexCall"), appendFrame(nil, http2.FrameData, 0, 1, message5(0, []byte{18, 2, 18, 0})...), appendReset(nil, 1, 8))
	seed(settings, call(1, "UnaryCall"), appendFrame(nil, http2.FrameData, http2.FlagDataEndStream|http2.FlagDataPadded, 1, 1, 0, 0, 0, 0, 2, 16, 9, 0))
	seed(settings, appendFrame(nil, http2.FrameSettings, 0, 0, setting(http2.SettingInitialWindowSize, 1)...), call(1, "EmptyCall"), empty, appendWindow(nil, 1, 4), appendWindow(nil, 0, 9))
	seed(settings, appendFrame(nil, http2.FramePing, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8), appendGoAway(nil, 0, 0, "bye"), appendFrame(nil, http2.FramePriority, 0, 3, 0, 0, 0, 0, 1))
	seed(settings, appendFrame(nil, http2.FrameHeaders, 0, 1, r.block(with()...)...), appendFrame(nil, http2.FrameContinuation, http2.FlagContinuationEndHeaders, 1), empty)

	log := &logtest.Text{}
	srv := New(Options{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError})), MaxRecvBytes: 1 << 16})
	testpb.RegisterTestServiceServer(srv, &service{})
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		session := srv.Session(ours, 1, nil)
		ended := make(chan struct{})
		go func() {
			session.Serve()
			close(ended)
		}()
		go io.Copy(io.Discard, theirs) //nolint:errcheck // it ends with the pipe
		theirs.SetDeadline(time.Now().Add(waitForAnswer))
		if _, err := theirs.Write(append([]byte(http2.ClientPreface), data...)); err == nil {
			theirs.Close()
		}
		select {
		case <-ended:
		case <-time.After(waitForAnswer):
			t.Fatal("the server hangs")
		}
		theirs.Close()
		if text := log.Take(); strings.Contains(text, "panic") {
			t.Fatal(text)
		}
	})
}
