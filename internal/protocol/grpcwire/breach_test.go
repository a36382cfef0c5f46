package grpcwire

import (
	"encoding/binary"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// u32 returns the payload of a frame that holds one number.
func u32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func setting(id http2.SettingID, n uint32) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(id)), u32(n)...)
}

// breaches are protocol errors of clients, with their outcome. Call 1 is open and its client has
// not finished. The outcome is that of call 1, or else that of the connection.
var breaches = []struct {
	name string
	do   func(r *raw)
	want string
}{
	{"data of stream 0", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameData, 0, 0, []byte{1})) }, "goaway PROTOCOL_ERROR, closed"},
	{"data of an idle stream", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameData, 0, 5, []byte{1})) }, "goaway PROTOCOL_ERROR, closed"},
	{"data padded beyond its end", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{9, 1})) }, "goaway PROTOCOL_ERROR, closed"},
	{"padded data without a length", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, nil)) }, "goaway FRAME_SIZE_ERROR, closed"},
	{"data after the end", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, 1, message5(0, nil)))
		r.ok(r.fr.WriteRawFrame(http2.FrameData, 0, 1, []byte{1}))
	}, "reset STREAM_CLOSED"},
	{"headers of stream 0", func(r *raw) { r.headers(0, true, with()...) }, "goaway PROTOCOL_ERROR, closed"},
	{"headers of an even stream", func(r *raw) { r.headers(2, true, with()...) }, "goaway PROTOCOL_ERROR, closed"},
	{"headers of an older stream", func(r *raw) {
		r.headers(9, false, with()...)
		r.headers(7, false, with()...)
	}, "goaway PROTOCOL_ERROR, closed"},
	{"second headers without the end", func(r *raw) { r.headers(1, false, with()...) }, "reset PROTOCOL_ERROR"},
	{"headers after the end", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, 1, message5(0, nil)))
		r.headers(1, true, "a", "b")
	}, "reset STREAM_CLOSED"},
	{"headers padded beyond their end", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded, 3, []byte{9, 1})) }, "goaway PROTOCOL_ERROR, closed"},
	{"headers too short for their priority", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPriority, 3, []byte{9, 1})) }, "goaway FRAME_SIZE_ERROR, closed"},
	{"headers that are no HPACK", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 3, []byte{0xff, 0xff, 0xff, 0xff}))
	}, "goaway COMPRESSION_ERROR, closed"},
	{"half a field", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 3, []byte{0x40, 5, 'a'}))
	}, "goaway COMPRESSION_ERROR, closed"},
	{"a table larger than allowed", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 3, []byte{0x3f, 0xe2, 0x1f}))
	}, "goaway COMPRESSION_ERROR, closed"},
	{"another frame in a header block", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 3, r.block(with()...)))
		r.ok(r.fr.WritePing(false, [8]byte{}))
	}, "goaway PROTOCOL_ERROR, closed"},
	{"another stream's continuation", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 3, r.block(with()...)))
		r.ok(r.fr.WriteContinuation(5, true, nil))
	}, "goaway PROTOCOL_ERROR, closed"},
	{"a continuation of nothing", func(r *raw) { r.ok(r.fr.WriteContinuation(1, true, nil)) }, "goaway PROTOCOL_ERROR, closed"},
	{"headers without end", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 3, r.block(with()...)))
		for range 5 {
			r.ok(r.fr.WriteContinuation(3, false, make([]byte, maxFrame)))
		}
	}, "goaway ENHANCE_YOUR_CALM, closed"},
	{"empty continuations", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameHeaders, 0, 3, r.block(with()...)))
		flood(r, http2.FrameContinuation, 0, 3, nil)
	}, "goaway ENHANCE_YOUR_CALM, closed"},
	{"reset of stream 0", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameRSTStream, 0, 0, u32(8))) }, "goaway PROTOCOL_ERROR, closed"},
	{"reset of an idle stream", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameRSTStream, 0, 3, u32(8))) }, "goaway PROTOCOL_ERROR, closed"},
	{"reset of a wrong size", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameRSTStream, 0, 1, []byte{1})) }, "goaway FRAME_SIZE_ERROR, closed"},
	{"settings of a stream", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameSettings, 0, 1, nil)) }, "goaway PROTOCOL_ERROR, closed"},
	{"settings of a wrong size", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameSettings, 0, 0, []byte{1})) }, "goaway FRAME_SIZE_ERROR, closed"},
	{"settings acknowledged with settings", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameSettings, http2.FlagSettingsAck, 0, setting(1, 1)))
	}, "goaway FRAME_SIZE_ERROR, closed"},
	{"push neither on nor off", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameSettings, 0, 0, setting(http2.SettingEnablePush, 2))) }, "goaway PROTOCOL_ERROR, closed"},
	{"a first window too large", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameSettings, 0, 0, setting(http2.SettingInitialWindowSize, 1<<31)))
	}, "goaway FLOW_CONTROL_ERROR, closed"},
	{"a first window that makes an open one too large", func(r *raw) {
		r.ok(r.fr.WriteWindowUpdate(1, 1<<31-1-firstWindow))
		r.ok(r.fr.WriteRawFrame(http2.FrameSettings, 0, 0, setting(http2.SettingInitialWindowSize, firstWindow+1)))
	}, "goaway FLOW_CONTROL_ERROR, closed"},
	{"frames too small", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameSettings, 0, 0, setting(http2.SettingMaxFrameSize, 100)))
	}, "goaway PROTOCOL_ERROR, closed"},
	{"frames too large", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FrameSettings, 0, 0, setting(http2.SettingMaxFrameSize, 1<<24)))
	}, "goaway PROTOCOL_ERROR, closed"},
	{"push", func(r *raw) {
		r.ok(r.fr.WriteRawFrame(http2.FramePushPromise, http2.FlagPushPromiseEndHeaders, 1, u32(2)))
	}, "goaway PROTOCOL_ERROR, closed"},
	{"ping of a stream", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FramePing, 0, 1, make([]byte, 8))) }, "goaway PROTOCOL_ERROR, closed"},
	{"ping of a wrong size", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FramePing, 0, 0, make([]byte, 7))) }, "goaway FRAME_SIZE_ERROR, closed"},
	{"priority of stream 0", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FramePriority, 0, 0, make([]byte, 5))) }, "goaway PROTOCOL_ERROR, closed"},
	{"priority of a wrong size", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FramePriority, 0, 1, make([]byte, 4))) }, "reset FRAME_SIZE_ERROR"},
	{"farewell of a stream", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameGoAway, 0, 1, make([]byte, 8))) }, "goaway PROTOCOL_ERROR, closed"},
	{"farewell of a wrong size", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameGoAway, 0, 0, make([]byte, 7))) }, "goaway FRAME_SIZE_ERROR, closed"},
	{"window update of a wrong size", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 3))) }, "goaway FRAME_SIZE_ERROR, closed"},
	{"window update of 0", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, u32(0))) }, "goaway PROTOCOL_ERROR, closed"},
	{"window update of 0 for a stream", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameWindowUpdate, 0, 1, u32(0))) }, "reset PROTOCOL_ERROR"},
	{"window update of an idle stream", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameWindowUpdate, 0, 3, u32(1))) }, "goaway PROTOCOL_ERROR, closed"},
	{"the connection's window too large", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, u32(1<<31-1))) }, "goaway FLOW_CONTROL_ERROR, closed"},
	{"a stream's window too large", func(r *raw) { r.ok(r.fr.WriteRawFrame(http2.FrameWindowUpdate, 0, 1, u32(1<<31-1))) }, "reset FLOW_CONTROL_ERROR"},
	{"more data than a stream's window", func(r *raw) {
		r.ok(r.fr.WriteData(1, false, []byte{0, 0, 0x3f, 0xff, 0xff}))
		for range 5 { // an incomplete message, then messages that no handler takes
			r.ok(r.fr.WriteData(1, false, make([]byte, 0)))
		}
		r.headers(3, false, with(":path", "/grpc.testing.TestService/StreamingInputCall", "do", "hold")...)
		r.ok(r.fr.WriteRawFrame(http2.FrameRSTStream, 0, 1, u32(8)))
		for range 17 {
			r.ok(r.fr.WriteData(3, false, message5(0, make([]byte, maxFrame-5))))
		}
	}, "reset FLOW_CONTROL_ERROR"},
	{"a frame that is too long", func(r *raw) {
		r.write([]byte{0, 0x40, 1, byte(http2.FrameData), 0, 0, 0, 0, 1})
	}, "goaway FRAME_SIZE_ERROR, closed"},
	{"pings without end", func(r *raw) { flood(r, http2.FramePing, 0, 0, make([]byte, 8)) }, "goaway ENHANCE_YOUR_CALM, closed"},
	{"settings without end", func(r *raw) { flood(r, http2.FrameSettings, 0, 0, nil) }, "goaway ENHANCE_YOUR_CALM, closed"},
	{"empty data without end", func(r *raw) { flood(r, http2.FrameData, 0, 1, nil) }, "goaway ENHANCE_YOUR_CALM, closed"},
	{"priorities without end", func(r *raw) { flood(r, http2.FramePriority, 0, 1, make([]byte, 5)) }, "goaway ENHANCE_YOUR_CALM, closed"},
	{"unknown frames without end", func(r *raw) { flood(r, 200, 0, 1, nil) }, "goaway ENHANCE_YOUR_CALM, closed"},
	{"resets without end", func(r *raw) {
		var b []byte
		for id := uint32(3); id < 2*resetBurst*2; id += 2 {
			block := r.block(with()...)
			b = appendFrame(b, http2.FrameHeaders, http2.FlagHeadersEndHeaders, id, block...)
			b = appendReset(b, id, http2.ErrCodeCancel)
		}
		go r.nc.Write(b) //nolint:errcheck // the server closes before everything is written
	}, "goaway ENHANCE_YOUR_CALM, closed"},
}

// flood sends the same useless frame many times. The server closes before everything is written.
func flood(r *raw, kind http2.FrameType, flags http2.Flags, id uint32, payload []byte) {
	var b []byte
	for range 3 * calmBurst {
		b = appendFrame(b, kind, flags, id, payload...)
	}
	go r.nc.Write(b) //nolint:errcheck // see above
}

// TestBreaches covers the cases of h2spec and the well-known HTTP/2 floods.
func TestBreaches(t *testing.T) {
	svc := &service{release: make(chan struct{})}
	t.Cleanup(func() { close(svc.release) })
	_, addr := start(t, Options{}, svc)
	for _, b := range breaches {
		t.Run(b.name, func(t *testing.T) {
			r := dialRaw(t, addr, true)
			r.headers(1, false, with(":path", "/grpc.testing.TestService/StreamingInputCall", "do", "hold")...)
			b.do(r)
			id := uint32(1)
			if strings.HasPrefix(b.name, "more data") {
				id = 3
			}
			if got := r.transcript(id); got != b.want {
				t.Errorf("%s\nwant %s", got, b.want)
			}
		})
	}
}

// TestTolerated covers frames that are useless but allowed.
func TestTolerated(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	r := dialRaw(t, addr, true)
	r.ok(r.fr.WriteRawFrame(200, 0xff, 77, []byte("unknown")))
	r.ok(r.fr.WritePriority(1, http2.PriorityParam{StreamDep: 1}))
	r.ok(r.fr.WriteSettings(http2.Setting{ID: 999, Val: 1}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20}))
	r.ok(r.fr.WriteSettingsAck())
	r.ok(r.fr.WriteGoAway(0, http2.ErrCodeNo, []byte("not yet")))
	block := r.block(with()...)
	r.ok(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:3], PadLength: 7, Priority: http2.PriorityParam{Weight: 3, StreamDep: 9}}))
	r.ok(r.fr.WriteContinuation(1, false, nil))
	r.ok(r.fr.WriteContinuation(1, true, block[3:]))
	for _, b := range message5(0, nil) { // byte by byte, padded
		r.ok(r.fr.WriteDataPadded(1, false, []byte{b}, make([]byte, 3)))
	}
	r.headers(1, true, "trailer", "of the client")
	if got := r.transcript(1); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
	r.ok(r.fr.WriteWindowUpdate(1, 5)) // for a finished call
	r.ok(r.fr.WriteRSTStream(1, http2.ErrCodeNo))
	r.ok(r.fr.WriteData(1, true, []byte{1}))
	r.headers(3, false, with()...)
	r.ok(r.fr.WriteData(3, true, message5(0, nil)))
	if got := r.transcript(3); got != "{:status=200}, 5 bytes, {grpc-status=0}" {
		t.Error(got)
	}
}

// TestPreface covers invalid starts of a connection.
func TestPreface(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	for name, c := range map[string]struct {
		start []byte
		want  string
	}{
		"HTTP/1":           {[]byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n"), "closed"},
		"short":            {[]byte("GET"), "closed"},
		"almost":           {[]byte(http2.ClientPreface[:23] + "x"), "closed"},
		"no settings":      {appendFrame([]byte(http2.ClientPreface), http2.FramePing, 0, 0, make([]byte, 8)...), "goaway PROTOCOL_ERROR, closed"},
		"only their reply": {appendFrame([]byte(http2.ClientPreface), http2.FrameSettings, http2.FlagSettingsAck, 0), "goaway PROTOCOL_ERROR, closed"},
	} {
		r := dialRaw(t, addr, false)
		r.write(c.start)
		if got := r.transcript(1); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
