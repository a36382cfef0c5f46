package grpcwire

import (
	"testing"

	"golang.org/x/net/http2"
)

// many is more frames than any rate limit of a connection allows.
const many = 2 * (resetBurst + calmBurst)

// repeat opens calls one after the other. To each it appends frames that make the server reset it,
// or that come too late for it.
func repeat(r *raw, path string, flags http2.Flags, breach func(b []byte, id uint32) []byte) {
	var b []byte
	for id := uint32(3); id < 2*many; id += 2 {
		b = appendFrame(b, http2.FrameHeaders, flags|http2.FlagHeadersEndHeaders, id, r.block(with(":path", path)...)...)
		b = breach(b, id)
	}
	go r.nc.Write(b) //nolint:errcheck // the server closes before everything is written
}

// resetFloods are the attacks of CVE-2025-8671 (MadeYouReset) and similar ones: the client breaks a
// rule of a stream, and the server has to reset it, at no cost to the client.
var resetFloods = []struct {
	name string
	do   func(r *raw)
}{
	{"window updates of 0", func(r *raw) {
		repeat(r, holdPath, 0, func(b []byte, id uint32) []byte { return appendWindow(b, id, 0) })
	}},
	{"windows that grow too large", func(r *raw) {
		repeat(r, holdPath, 0, func(b []byte, id uint32) []byte { return appendWindow(b, id, mostWindow) })
	}},
	{"data after the end", func(r *raw) {
		repeat(r, holdPath, 0, func(b []byte, id uint32) []byte {
			b = appendFrame(b, http2.FrameData, http2.FlagDataEndStream, id, message5(0, nil)...)
			return appendFrame(b, http2.FrameData, 0, id, 1)
		})
	}},
	{"headers without the end after headers", func(r *raw) {
		repeat(r, holdPath, 0, func(b []byte, id uint32) []byte {
			return appendFrame(b, http2.FrameHeaders, http2.FlagHeadersEndHeaders, id, r.block("a", "b")...)
		})
	}},
	{"priorities of a wrong size", func(r *raw) {
		repeat(r, holdPath, 0, func(b []byte, id uint32) []byte { return appendFrame(b, http2.FramePriority, 0, id, 1) })
	}},
	{"malformed requests", func(r *raw) {
		repeat(r, "", 0, func(b []byte, _ uint32) []byte { return b })
	}},
	{"more calls than it may open", func(r *raw) {
		repeat(r, holdPath, 0, func(b []byte, _ uint32) []byte { return b })
	}},
	{"data of calls that are over", func(r *raw) {
		late(r, appendFrame(nil, http2.FrameData, 0, 1, 1))
	}},
	{"window updates of calls that are over", func(r *raw) {
		late(r, appendWindow(nil, 1, 1))
	}},
	{"trailers of calls that are over", func(r *raw) {
		late(r, appendFrame(nil, http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1, 0x88))
	}},
}

const holdPath = "/grpc.testing.TestService/StreamingInputCall"

// late sends the same frame many times for call 1, which the server has ended early because its
// path is unknown.
func late(r *raw, f []byte) {
	r.headers(1, false, with(":path", "/a/b")...)
	var b []byte
	for range many {
		b = append(b, f...)
	}
	go r.nc.Write(b) //nolint:errcheck // the server closes before everything is written
}

// TestResetFloods checks that provoked resets and frames for finished calls are rate-limited.
func TestResetFloods(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	for _, f := range resetFloods {
		t.Run(f.name, func(t *testing.T) {
			r := dialRaw(t, addr, true)
			f.do(r)
			if got := farewell(r); got != http2.ErrCodeEnhanceYourCalm.String() {
				t.Errorf("the connection ended with %s", got)
			}
		})
	}
}

// farewell returns the error code of the GOAWAY that ends the connection.
func farewell(r *raw) string {
	for {
		f, err := r.next()
		if err != nil {
			return err.Error()
		}
		if g, ok := f.(*http2.GoAwayFrame); ok {
			return g.ErrCode.String()
		}
	}
}

// TestClosedStreams checks that a stream that is over, or whose ID was skipped, cannot be opened.
func TestClosedStreams(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	done := func(r *raw) { // call 5 is answered, and the client has ended it
		r.headers(5, false, with()...)
		r.ok(r.fr.WriteData(5, true, message5(0, nil)))
		if got := r.transcript(5); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
			t.Fatal(got)
		}
	}
	early := func(r *raw) { // call 5 is answered before the client has ended it
		r.headers(5, false, with(":path", "/a/b")...)
		if got := r.transcript(5); got != "{:status=200 grpc-status=12 unknown service a}" {
			t.Fatal(got)
		}
	}
	for _, c := range []struct {
		name   string
		before func(r *raw)
		do     func(r *raw)
		id     uint32
		want   string
	}{
		{"a lower stream", done, func(r *raw) { r.headers(3, false, with()...) }, 3, "goaway PROTOCOL_ERROR, closed"},
		{"a lower stream with its end", done, func(r *raw) { r.headers(3, true, with()...) }, 3, "goaway PROTOCOL_ERROR, closed"},
		{"headers after both ends", done, func(r *raw) { r.headers(5, true, with()...) }, 5, "goaway STREAM_CLOSED, closed"},
		{"data after both ends", done, func(r *raw) { r.ok(r.fr.WriteData(5, true, []byte{1})) }, 5, "reset STREAM_CLOSED"},
		{"headers after a reset by the client", done, func(r *raw) {
			r.headers(7, false, with(":path", holdPath)...)
			r.ok(r.fr.WriteRSTStream(7, http2.ErrCodeCancel))
			r.headers(7, true, "a", "b")
		}, 7, "goaway STREAM_CLOSED, closed"},
		{"a window update of 0 after both ends", done, func(r *raw) { r.ok(r.fr.WriteWindowUpdate(5, 0)) }, 5, "reset PROTOCOL_ERROR"},
		{"headers without the end that crossed the answer", early, func(r *raw) {
			r.nextFrame() // the reset that ends the client's side
			r.headers(5, false, "a", "b")
		}, 5, "reset PROTOCOL_ERROR"},
		{"data after an answer and a reset", early, func(r *raw) {
			r.nextFrame()
			r.ok(r.fr.WriteRSTStream(5, http2.ErrCodeCancel))
			r.ok(r.fr.WriteData(5, true, []byte{1}))
		}, 5, "reset STREAM_CLOSED"},
		{"trailers that crossed the answer", early, func(r *raw) {
			if f, ok := r.nextFrame().(*http2.RSTStreamFrame); !ok || f.StreamID != 5 || f.ErrCode != http2.ErrCodeNo {
				t.Errorf("%v", f)
			}
			r.ok(r.fr.WriteData(5, false, []byte{1}))
			r.headers(5, true, "a", "b")
			r.headers(7, false, with()...)
			r.ok(r.fr.WriteData(7, true, message5(0, nil)))
		}, 7, "{:status=200}, 5 bytes, {grpc-status=0}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := dialRaw(t, addr, true)
			r.fr.AllowIllegalWrites = true
			c.before(r)
			c.do(r)
			if got := r.transcript(c.id); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}
