package amqpwire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
)

const props = "\x10\x00\x02" // delivery mode 2

func envelope(exchange, key, body string) message.Envelope {
	return append(message.AppendEnvelopeHeader(nil, exchange, key, []byte(props)), body...)
}

func TestAppendDeliver(t *testing.T) {
	const method = "\x01\x00\x07\x00\x00\x00\x16" +
		"\x00\x3c\x00\x3c\x03tag\x00\x00\x00\x00\x00\x00\x01\x02\x01\x01x\x02ke\xce"
	header := func(size string) string {
		return "\x02\x00\x07\x00\x00\x00\x0f\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00" + size + props + "\xce"
	}
	for _, c := range []struct {
		name, body string
		frameMax   uint32
		want       string
	}{
		{"no body", "", 4096, header("\x00")},
		{"one frame", "abc", 4096, header("\x03") + "\x03\x00\x07\x00\x00\x00\x03abc\xce"},
		{"no limit", "abc", 0, header("\x03") + "\x03\x00\x07\x00\x00\x00\x03abc\xce"},
		{"full frame", "abc", 11, header("\x03") + "\x03\x00\x07\x00\x00\x00\x03abc\xce"},
		{"two frames", "abcd", 11, header("\x04") + "\x03\x00\x07\x00\x00\x00\x03abc\xce\x03\x00\x07\x00\x00\x00\x01d\xce"},
	} {
		got := AppendDeliver([]byte("kept"), 7, "tag", 258, true, envelope("x", "ke", c.body), c.frameMax)
		if want := "kept" + method + c.want; string(got) != want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, want)
		}
	}
}

// readContent parses what a method with content appends, and returns its parts.
func readContent(t *testing.T, wire []byte, frameMax uint32) (m Method, channel uint16, gotProps, body []byte) {
	t.Helper()
	var size uint64
	for step := 0; len(wire) > 0; step++ {
		f, n, err := ParseFrame(wire, 0)
		if err != nil || n == 0 {
			t.Fatalf("frame %d: %d, %v", step, n, err)
		}
		if step > 0 && f.Channel != channel {
			t.Errorf("frame %d on channel %d, want %d", step, f.Channel, channel)
		}
		switch {
		case step == 0 && f.Type == FrameMethod:
			channel = f.Channel
			if m, err = DecodeMethod(f.Payload); err != nil {
				t.Fatal(err)
			}
		case step == 1 && f.Type == FrameHeader:
			var class uint16
			if class, size, gotProps, err = ParseContentHeader(f.Payload); err != nil || class != ClassBasic {
				t.Fatalf("content header of class %d: %v", class, err)
			}
		case step > 1 && f.Type == FrameBody:
			if n > int(frameMax) || len(f.Payload) == 0 {
				t.Errorf("body frame of %d bytes, limit %d", n, frameMax)
			}
			body = append(body, f.Payload...)
		default:
			t.Fatalf("frame %d has type %d", step, f.Type)
		}
		wire = wire[n:]
	}
	if size != uint64(len(body)) {
		t.Errorf("announced %d bytes, sent %d", size, len(body))
	}
	return m, channel, gotProps, body
}

func TestAppendOtherContent(t *testing.T) {
	const frameMax = 100
	sent := bytes.Repeat([]byte("0123456789"), 25)
	env := envelope("x", "key", string(sent))
	for _, c := range []struct {
		wire []byte
		want Method
	}{
		{AppendGetOk(nil, 9, 258, true, 5, env, frameMax), &BasicGetOk{258, true, "x", "key", 5}},
		{AppendReturn(nil, 9, amqpcode.NoRoute, "NO_ROUTE", env, frameMax), &BasicReturn{amqpcode.NoRoute, "NO_ROUTE", "x", "key"}},
		{AppendPublish(nil, 9, "x", "key", true, []byte(props), sent, frameMax),
			&BasicPublish{Exchange: []byte("x"), RoutingKey: []byte("key"), Mandatory: true}},
		{AppendDeliver(nil, 9, "t", 1, false, env, frameMax),
			&BasicDeliver{[]byte("t"), 1, false, []byte("x"), []byte("key")}},
	} {
		m, channel, gotProps, body := readContent(t, c.wire, frameMax)
		if got, want := fmt.Sprintf("%+v", m), fmt.Sprintf("%+v", c.want); got != want || m.ID() != c.want.ID() {
			t.Errorf("method %s, want %s", got, want)
		}
		if channel != 9 || string(gotProps) != props || !bytes.Equal(body, sent) {
			t.Errorf("%v: channel %d, properties %q, body of %d bytes", c.want.ID(), channel, gotProps, len(body))
		}
	}
}

func TestParseContentHeader(t *testing.T) {
	class, size, gotProps, err := ParseContentHeader([]byte("\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00" + props))
	if err != nil || class != 60 || size != 256 || string(gotProps) != props {
		t.Errorf("= %d, %d, %q, %v", class, size, gotProps, err)
	}
	for wire, want := range map[string]error{
		"\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00":     ErrMalformedHeader, // no flags
		"\x00\x3c\x00\x01\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00": ErrWeight,
		"": ErrMalformedHeader,
	} {
		if _, _, _, err := ParseContentHeader([]byte(wire)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", wire, err, want)
		}
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	env := envelope("x", "key", "body")
	publish := appendMethod(nil, &BasicPublish{Exchange: []byte("x"), RoutingKey: []byte("key")})
	ack := appendMethod(nil, &BasicAck{DeliveryTag: 1})
	dst := make([]byte, 0, 1024)
	allocs := testing.AllocsPerRun(100, func() {
		dst = AppendDeliver(dst[:0], 1, "tag", 1, false, env, 4096)
		dst = AppendGetOk(dst, 1, 1, false, 0, env, 4096)
		dst = AppendReturn(dst, 1, amqpcode.NoRoute, "NO_ROUTE", env, 4096)
		dst = AppendAck(dst, 1, 1, true)
		var p BasicPublish
		var a BasicAck
		_, publishArgs, _ := SplitMethod(publish)
		_, ackArgs, _ := SplitMethod(ack)
		if p.Decode(publishArgs) != nil || a.Decode(ackArgs) != nil {
			t.Error("decoding failed")
		}
		if _, n, err := ParseFrame(dst, 4096); n == 0 || err != nil {
			t.Error(n, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func BenchmarkAppendDeliver(b *testing.B) {
	for _, size := range []int{16, 1024, 300000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			env := envelope("orders", "eu.created", string(make([]byte, size)))
			dst := make([]byte, 0, 2*size+1024)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				dst = AppendDeliver(dst[:0], 1, "ctag-1", 12345, false, env, 131072)
			}
		})
	}
}

func BenchmarkParseFrame(b *testing.B) {
	wire := AppendAck(nil, 1, 12345, false)
	b.ReportAllocs()
	for b.Loop() {
		if _, n, err := ParseFrame(wire, 131072); n == 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}
