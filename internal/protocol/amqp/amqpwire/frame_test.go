package amqpwire

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

func TestParseFrame(t *testing.T) {
	wire := []byte("\x01\x00\x05\x00\x00\x00\x03abc\xce" + "\x08\x00\x00\x00\x00\x00\x00\xce")
	for n := range 11 {
		if f, took, err := ParseFrame(wire[:n], 4096); took != 0 || err != nil {
			t.Errorf("first %d bytes: %+v, %d, %v; want more bytes asked for", n, f, took, err)
		}
	}
	f, n, err := ParseFrame(wire, 4096)
	if err != nil || n != 11 || f.Type != FrameMethod || f.Channel != 5 || string(f.Payload) != "abc" {
		t.Fatalf("first frame: %+v, %d, %v", f, n, err)
	}
	if cap(f.Payload) != 3 {
		t.Errorf("the payload's capacity reaches beyond the frame: %d", cap(f.Payload))
	}
	f, n, err = ParseFrame(wire[n:], 4096)
	if err != nil || n != 8 || f.Type != FrameHeartbeat || len(f.Payload) != 0 {
		t.Fatalf("heartbeat: %+v, %d, %v", f, n, err)
	}
}

func TestParseFrameErrors(t *testing.T) {
	for _, c := range []struct {
		name, wire string
		maxFrame   uint32
		kind       error
		reason     string
	}{
		{"too large, header alone", "\x03\x00\x01\x00\x02\x00\x08", 131072, ErrFrameTooLarge, "{frame_too_large,131080,131064}"},
		{"largest size", "\x03\x00\x01\xff\xff\xff\xff", 4096, ErrFrameTooLarge, "{frame_too_large,4294967295,4088}"},
		{"end octet", "\x01\x00\x01\x00\x00\x00\x01aA", 4096, ErrFrameEnd, "{invalid_frame_end_marker,65}"},
		{"type, header alone", "\x04\x00\x01\x00\x00\x00\x01", 4096, ErrFrameType, "unknown_frame"},
		{"another protocol", "GET / HTTP", 4096, ErrFrameType, "unknown_frame"},
	} {
		f, n, err := ParseFrame([]byte(c.wire), c.maxFrame)
		var frameErr *FrameError
		if n != 0 || !errors.Is(err, c.kind) || !errors.As(err, &frameErr) {
			t.Errorf("%s: %+v, %d, %v", c.name, f, n, err)
			continue
		}
		if got := frameErr.Reason(); got != c.reason {
			t.Errorf("%s: reason %q, want %q", c.name, got, c.reason)
		}
	}
}

func TestParseFrameLimit(t *testing.T) {
	frame := func(payload int) []byte {
		b := appendFrameHeader(nil, FrameBody, 1, payload)
		return append(append(b, make([]byte, payload)...), FrameEnd)
	}
	for _, c := range []struct {
		payload  int
		maxFrame uint32
		ok       bool
	}{
		{4088, 4096, true},
		{4096, 4096, true}, // the client does not count the framing
		{4097, 4096, false},
		{100000, 0, true},
	} {
		wire := frame(c.payload)
		_, n, err := ParseFrame(wire, c.maxFrame)
		if (err == nil) != c.ok || (n == len(wire)) != c.ok {
			t.Errorf("payload %d, maxFrame %d: %d, %v", c.payload, c.maxFrame, n, err)
		}
	}
}

func TestAppendFrames(t *testing.T) {
	prefix := []byte("kept")
	for name, c := range map[string]struct{ got, want string }{
		"heartbeat": {string(AppendHeartbeat(prefix)), "kept\x08\x00\x00\x00\x00\x00\x00\xce"},
		"method": {string(AppendMethodFrame(prefix, 300, &ConnectionOpen{VirtualHost: "/"})),
			"kept\x01\x01\x2c\x00\x00\x00\x08\x00\x0a\x00\x28\x01/\x00\x00\xce"},
		"ack": {string(AppendAck(prefix, 2, 258, true)),
			"kept\x01\x00\x02\x00\x00\x00\x0d\x00\x3c\x00\x50\x00\x00\x00\x00\x00\x00\x01\x02\x01\xce"},
		"nack": {string(AppendNack(prefix, 2, 258, false, true)),
			"kept\x01\x00\x02\x00\x00\x00\x0d\x00\x3c\x00\x78\x00\x00\x00\x00\x00\x00\x01\x02\x02\xce"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, c.got, c.want)
		}
	}
}

func FuzzParseFrame(f *testing.F) {
	f.Add([]byte("\x01\x00\x05\x00\x00\x00\x03abc\xce"), uint32(4096))
	f.Add([]byte("\x03\x00\x01\x00\x02\x00\x08"), uint32(131072))
	f.Add([]byte("\x08\x00\x00\x00\x00\x00\x00\xce\x08"), uint32(0))
	f.Add([]byte("\x01\x00\x01\xff\xff\xff\xff"), uint32(math.MaxUint32))
	f.Fuzz(func(t *testing.T, b []byte, maxFrame uint32) {
		frame, n, err := ParseFrame(b, maxFrame)
		if err != nil || n == 0 {
			if n != 0 || frame.Payload != nil {
				t.Fatalf("no frame, but %d bytes taken: %+v, %v", n, frame, err)
			}
			return
		}
		again := appendFrameHeader(nil, frame.Type, frame.Channel, len(frame.Payload))
		again = append(append(again, frame.Payload...), FrameEnd)
		if !bytes.Equal(again, b[:n]) {
			t.Fatalf("framed again: %q, want %q", again, b[:n])
		}
		if _, m, err := ParseFrame(b[:n-1], maxFrame); m != 0 || err != nil {
			t.Fatalf("one byte less: %d, %v", m, err)
		}
	})
}
