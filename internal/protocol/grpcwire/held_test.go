package grpcwire

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// heldLimit is what clients may have the servers of these tests keep.
const heldLimit = 1 << 20

// TestHeldParts: what clients begin to send and do not finish is bounded over all connections, and counted off when the call or the connection ends.
func TestHeldParts(t *testing.T) {
	srv, addr := start(t, Options{MaxHeldBytes: heldLimit, MaxRecvBytes: heldLimit / 4}, &service{})
	part := message5(0, make([]byte, heldLimit/4))[:heldLimit/4-1000]
	pong := func(r *raw) {
		if f := r.nextFrame(); f.Header().Type != http2.FramePing {
			t.Fatal(f)
		}
	}
	begin := func(r *raw, id uint32) {
		r.headers(id, false, with()...)
		for p := part; len(p) > 0; {
			n := min(len(p), maxFrame)
			r.ok(r.fr.WriteData(id, false, p[:n]))
			p = p[n:]
		}
	}
	one, other := dialRaw(t, addr, true), dialRaw(t, addr, true)
	for id := uint32(1); id <= 5; id += 2 {
		begin(one, id)
		one.ok(one.fr.WritePing(false, [8]byte{byte(id)}))
		pong(one)
	}
	begin(other, 1)
	begin(other, 3)
	const refused = "{:status=200 grpc-status=8 grpc: the server holds too many bytes of requests}"
	if got := other.transcript(3); got != refused {
		t.Error(got)
	}
	one.ok(one.fr.WriteRSTStream(1, http2.ErrCodeCancel))
	one.ok(one.fr.WritePing(false, [8]byte{9}))
	pong(one)
	begin(other, 5)
	rest := message5(0, make([]byte, heldLimit/4))[len(part):]
	other.ok(other.fr.WriteData(5, true, rest))
	if got := other.transcript(5); !strings.Contains(got, "error unmarshalling request") { // zeros are no message, but they came
		t.Error(got)
	}
	one.nc.Close()
	other.nc.Close()
	for end := time.Now().Add(waitForAnswer); srv.held.Load() != 0; {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are held for nobody", srv.held.Load())
		}
		runtime.Gosched()
	}
}
