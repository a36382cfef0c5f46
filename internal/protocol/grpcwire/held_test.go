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

// Limits of the servers of these tests: one message may be held per connection, four in total.
const (
	heldMessage = 256 << 10
	heldLimit   = 16 * heldMessage // the smallest limit that Options accepts
)

func heldOptions() Options {
	return Options{MaxHeldBytes: heldLimit, MaxRecvBytes: heldMessage, MaxConnHeldBytes: heldLimit / 2}
}

// begin opens a call and sends its message without the end.
func begin(r *raw, id uint32, fields ...string) {
	r.headers(id, false, with(fields...)...)
	for p := message5(0, make([]byte, heldMessage))[:heldMessage-1000]; len(p) > 0; {
		n := min(len(p), maxFrame)
		r.ok(r.fr.WriteData(id, false, p[:n]))
		p = p[n:]
	}
}

// settle waits until the server has handled everything that was sent, and returns how many calls
// ended until then.
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

// finish sends the rest of the message that begin started.
func finish(r *raw, id uint32) string {
	r.ok(r.fr.WriteData(id, true, make([]byte, 1000+messageHead)))
	return r.transcript(id)
}

const (
	refusedHeld = "{:status=200 grpc-status=8 grpc: the server holds too many bytes of requests}"
	cameWhole   = "error unmarshalling request" // zeros are not a valid message, but they arrived
)

// nothingHeld fails the test unless the server soon holds nothing.
func nothingHeld(t *testing.T, srv *Server) {
	for end := time.Now().Add(waitForAnswer); srv.held.Load() != 0 || srv.queued.Load() != 0; {
		if time.Now().After(end) {
			t.Fatalf("%d and %d bytes are held for nobody", srv.held.Load(), srv.queued.Load())
		}
		runtime.Gosched()
	}
}

// TestHeldParts checks that incomplete messages are limited per connection and in total, and that
// they are subtracted when the call or the connection ends.
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
	rest := heldLimit - srv.held.Load() // of the total, less than one message
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

// guarded admits clients that send a token.
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

// TestStrangers checks that a client that has not logged in may have little held, and that half of
// the total is reserved for clients with a login.
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
	begin(r, 5) // now the connection has logged in
	if got := finish(r, 5); !strings.Contains(got, cameWhole) {
		t.Error(got)
	}
	r.nc.Close()
	for _, s := range strangers {
		s.nc.Close()
	}
	nothingHeld(t, srv)
}

// TestStrangersCalls checks that a client that has not logged in may open few calls.
func TestStrangersCalls(t *testing.T) {
	_, addr := start(t, guardedOptions(), &service{})
	r := dialRaw(t, addr, true)
	const most = 2*strangerCalls - 1 // the ID of the last call
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

// TestHeldHeaders checks that an incomplete header block counts as held.
func TestHeldHeaders(t *testing.T) {
	srv, addr := start(t, guardedOptions(), &service{})
	srv.held.Store(heldLimit / 2) // as if clients without a login had used their share
	r := dialRaw(t, addr, true)
	r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 1, make([]byte, littleHeld+1)))
	if got := r.transcript(1); got != "goaway ENHANCE_YOUR_CALM, closed" {
		t.Error(got)
	}
}
