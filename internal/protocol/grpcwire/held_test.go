package grpcwire

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Limits of the servers of these tests: a connection may have one message kept, all may have four.
const (
	heldMessage = 256 << 10
	heldLimit   = 16 * heldMessage // the least that Options takes
)

func heldOptions() Options {
	return Options{MaxHeldBytes: heldLimit, MaxRecvBytes: heldMessage, MaxConnHeldBytes: heldLimit / 2}
}

// begin opens a call and sends all of its message but the end.
func begin(r *raw, id uint32, fields ...string) {
	r.headers(id, false, with(fields...)...)
	for p := message5(0, make([]byte, heldMessage))[:heldMessage-1000]; len(p) > 0; {
		n := min(len(p), maxFrame)
		r.ok(r.fr.WriteData(id, false, p[:n]))
		p = p[n:]
	}
}

// settle returns when the server has seen all that was sent, and says how many calls ended until
// then.
func settle(r *raw) (ended int) {
	r.t.Helper()
	r.ok(r.fr.WritePing(false, [8]byte{}))
	for {
		switch f := r.nextFrame().(type) {
		case *http2.PingFrame:
			return ended
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				ended++
			}
		}
	}
}

// finish sends the end of the message that begin began.
func finish(r *raw, id uint32) string {
	r.ok(r.fr.WriteData(id, true, make([]byte, 1000+messageHead)))
	return r.transcript(id)
}

const (
	refusedHeld = "{:status=200 grpc-status=8 grpc: the server holds too many bytes of requests}"
	cameWhole   = "error unmarshalling request" // zeros are no message, but they came
)

// nothingHeld fails unless the server soon keeps nothing.
func nothingHeld(t *testing.T, srv *Server) {
	for end := time.Now().Add(waitForAnswer); srv.held.Load() != 0 || srv.queued.Load() != 0; {
		if time.Now().After(end) {
			t.Fatalf("%d and %d bytes are held for nobody", srv.held.Load(), srv.queued.Load())
		}
		runtime.Gosched()
	}
}

// TestHeldParts: what one connection begins to send and does not finish is bounded, and so is what
// all do; it is counted off when the call or the connection ends.
func TestHeldParts(t *testing.T) {
	srv, addr := start(t, heldOptions(), &service{})
	var conns []*raw
	for range 3 {
		conns = append(conns, dialRaw(t, addr, true))
	}
	one, two, three := conns[0], conns[1], conns[2]
	for id := uint32(1); id <= 41; id += 2 {
		begin(one, id)
	}
	if ended, held := settle(one), srv.held.Load(); ended == 0 || held > heldLimit/2 {
		t.Errorf("one connection has %d bytes kept, %d calls were refused", held, ended)
	}
	for id := uint32(1); id <= 41; id += 2 {
		begin(two, id)
	}
	if ended, held := settle(two), srv.held.Load(); ended == 0 || held > heldLimit {
		t.Errorf("two have %d bytes kept, %d calls were refused", held, ended)
	}
	rest := heldLimit - srv.held.Load() // of the whole, less than a message
	srv.held.Add(rest)
	begin(three, 1)
	if got := three.transcript(1); got != refusedHeld {
		t.Error(got)
	}
	one.ok(one.fr.WriteRSTStream(1, http2.ErrCodeCancel))
	one.ok(one.fr.WriteRSTStream(3, http2.ErrCodeCancel))
	settle(one)
	begin(three, 3)
	if got := finish(three, 3); !strings.Contains(got, cameWhole) {
		t.Error(got)
	}
	for _, r := range conns {
		r.nc.Close()
	}
	srv.held.Add(-rest)
	nothingHeld(t, srv)
}

// guarded lets clients in that show a token.
type guarded struct{}

var errNobody = status.Error(codes.Unauthenticated, "who are you?")

func (guarded) Unary(*Call, []byte) bool { return false }
func (guarded) Flush()                   {}
func (guarded) Closed()                  {}
func (guarded) Admit(c *Call) error {
	if len(c.Metadata().Get("token")) == 0 {
		return errNobody
	}
	return nil
}

func guardedOptions() Options {
	o := heldOptions()
	o.NewConn = func(ConnInfo) Conn { return guarded{} }
	return o
}

// TestStrangers: a client that has not logged in may have little kept, and however many there are,
// half of all is kept for clients with a login.
func TestStrangers(t *testing.T) {
	srv, addr := start(t, guardedOptions(), &service{})
	const whoAreYou = "{:status=200 grpc-status=16 who are you?}"
	r := dialRaw(t, addr, true)
	begin(r, 1)
	if got := r.transcript(1); got != whoAreYou {
		t.Error(got)
	}
	var strangers []*raw
	part := append([]byte{0, 0, 3, 0, 0}, make([]byte, 32<<10)...) // of a message of 192 KiB
	for n := int64(0); n < 2*heldLimit; n += int64(len(part)) {
		s := dialRaw(t, addr, true)
		strangers = append(strangers, s)
		s.headers(1, false, with()...)
		for p := part; len(p) > 0; p = p[min(len(p), maxFrame):] {
			s.ok(s.fr.WriteData(1, false, p[:min(len(p), maxFrame)]))
		}
	}
	for _, s := range strangers {
		settle(s)
	}
	if held := srv.held.Load(); held > heldLimit/2 || held < heldLimit/4 {
		t.Errorf("%d bytes are held for strangers, of %d", held, heldLimit)
	}
	begin(r, 3, "token", "x")
	if got := finish(r, 3); !strings.Contains(got, cameWhole) {
		t.Error(got)
	}
	begin(r, 5) // the connection is known now
	if got := finish(r, 5); !strings.Contains(got, cameWhole) {
		t.Error(got)
	}
	r.nc.Close()
	for _, s := range strangers {
		s.nc.Close()
	}
	nothingHeld(t, srv)
}

// TestStrangersCalls: a client that has not logged in has few calls open.
func TestStrangersCalls(t *testing.T) {
	_, addr := start(t, guardedOptions(), &service{})
	r := dialRaw(t, addr, true)
	const most = 2*strangerCalls - 1 // the id of the last one
	for id := uint32(1); id <= most+2; id += 2 {
		r.headers(id, false, with(":path", holdPath)...)
	}
	if got := r.transcript(most + 2); got != "reset REFUSED_STREAM" {
		t.Error(got)
	}
	r.headers(most+4, false, with("token", "x")...)
	r.ok(r.fr.WriteData(most+4, true, message5(0, nil)))
	if got := r.transcript(most + 4); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
}

// TestHeldHeaders: a header block that is not whole counts like anything else that is kept.
func TestHeldHeaders(t *testing.T) {
	srv, addr := start(t, guardedOptions(), &service{})
	srv.held.Store(heldLimit / 2) // as if strangers had all that is for them
	r := dialRaw(t, addr, true)
	r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 1, make([]byte, littleHeld+1)))
	if got := r.transcript(1); got != "goaway ENHANCE_YOUR_CALM, closed" {
		t.Error(got)
	}
}
