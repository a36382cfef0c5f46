package grpcwire

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	testpb "google.golang.org/grpc/interop/grpc_testing"
)

const noMessage = "{:status=200 grpc-status=4 grpc: the message did not arrive in time}"

// stalls are what clients begin and do not continue, with the outcome for the call or the
// connection.
var stalls = []struct {
	name string
	do   func(r *raw)
	want string
}{
	{"a call without a message", func(r *raw) { r.headers(1, false, with()...) }, noMessage},
	{"half a message", func(r *raw) {
		r.headers(1, false, with()...)
		r.ok(r.fr.WriteData(1, false, message5(0, pattern(9))[:7]))
	}, noMessage},
	{"half a message of a stream", func(r *raw) {
		r.headers(1, false, with(":path", holdPath)...)
		r.ok(r.fr.WriteData(1, false, message5(0, pattern(9))[:7]))
	}, noMessage},
	{"a message byte by byte", func(r *raw) {
		r.headers(1, false, with(":path", holdPath)...)
		for _, b := range message5(0, pattern(9))[:13] {
			r.ok(r.fr.WriteData(1, false, []byte{b}))
			<-time.After(10 * time.Second) // bubble time
		}
	}, noMessage},
	{"half a frame", func(r *raw) { r.write([]byte{0, 0, 8, byte(http2.FramePing)}) }, "closed"},
	{"a header block without its end", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 1, r.block(with()...)))
	}, "closed"},
	{"a header block that goes on for ever", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 1, r.block(with()...)))
		for r.fr.WriteContinuation(1, false, nil) == nil {
			<-time.After(10 * time.Second) // bubble time
		}
	}, "closed"},
	{"an answer that is not taken", func(r *raw) {
		r.ok(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}))
		r.headers(1, false, with()...)
		r.ok(r.fr.WriteData(1, true, message5(0, nil)))
	}, "{:status=200}, 1 bytes, reset CANCEL"},
}

// TestStalls checks that whatever a client does not continue ends after the timeout, and within
// twice the timeout.
func TestStalls(t *testing.T) {
	for _, s := range stalls {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, gone := piped(t, Options{PingEvery: -1})
				r.write([]byte(http2.ClientPreface))
				begun := time.Now()
				said := make(chan string)
				go func() { said <- r.transcript(1) }()
				r.ok(r.fr.WriteSettings())
				s.do(r)
				if got := strings.Replace(<-said, "io: read/write on closed pipe", "closed", 1); got != s.want {
					t.Errorf("%s\nwant %s", got, s.want)
				}
				if d := time.Since(begun); d < time.Minute || d > 2*time.Minute+10*time.Second {
					t.Errorf("after %v", d)
				}
				r.nc.Close()
				<-gone
			})
		})
	}
}

// TestNoStall checks that open streams and messages in sequence are not treated as stalls.
func TestNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, gone := piped(t, Options{PingEvery: -1})
		r.write([]byte(http2.ClientPreface))
		said := make(chan string)
		go func() { said <- r.transcript(1) }()
		r.ok(r.fr.WriteSettings())
		r.headers(1, false, with(":path", "/grpc.testing.TestService/StreamingInputCall")...)
		m := message5(0, encode(t, &testpb.StreamingInputCallRequest{Payload: &testpb.Payload{Body: pattern(9)}}))
		r.ok(r.fr.WriteData(1, false, m[:7]))
		for range 10 { // each message ends while the next one begins
			time.Sleep(50 * time.Second)
			r.ok(r.fr.WriteData(1, false, append(m[7:len(m):len(m)], m[:7]...)))
		}
		r.ok(r.fr.WriteData(1, false, m[7:]))
		time.Sleep(time.Hour)
		r.ok(r.fr.WriteData(1, true, nil))
		if got := <-said; !strings.HasSuffix(got, "{grpc-status=0}") {
			t.Error(got)
		}
		r.nc.Close()
		<-gone
	})
}
