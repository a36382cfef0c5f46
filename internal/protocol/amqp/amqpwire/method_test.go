package amqpwire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
)

// args is the table of all samples and argsWire its bytes.
var args = message.Table{{Name: "k", Value: int32(1)}}

const argsWire = "\x00\x00\x00\x07\x01kI\x00\x00\x00\x01"

// samples has each method once, with the payload that the specification gives it. The bits are
// chosen so that swapping two of them is noticed.
var samples = []struct {
	m    Method
	wire string
}{
	{&ConnectionStart{0, 9, args, "PLAIN AMQPLAIN", "en_US"},
		"\x00\x0a\x00\x0a\x00\x09" + argsWire + "\x00\x00\x00\x0ePLAIN AMQPLAIN\x00\x00\x00\x05en_US"},
	{&ConnectionStartOk{args, "PLAIN", []byte("\x00u\x00p"), "en_US"},
		"\x00\x0a\x00\x0b" + argsWire + "\x05PLAIN\x00\x00\x00\x04\x00u\x00p\x05en_US"},
	{&ConnectionSecure{[]byte("why")}, "\x00\x0a\x00\x14\x00\x00\x00\x03why"},
	{&ConnectionSecureOk{[]byte("so")}, "\x00\x0a\x00\x15\x00\x00\x00\x02so"},
	{&ConnectionTune{2047, 131072, 60}, "\x00\x0a\x00\x1e\x07\xff\x00\x02\x00\x00\x00\x3c"},
	{&ConnectionTuneOk{2047, 131072, 60}, "\x00\x0a\x00\x1f\x07\xff\x00\x02\x00\x00\x00\x3c"},
	{&ConnectionOpen{"/"}, "\x00\x0a\x00\x28\x01/\x00\x00"},
	{&ConnectionOpenOk{}, "\x00\x0a\x00\x29\x00"},
	{&ConnectionClose{320, "bye", 60, 40}, "\x00\x0a\x00\x32\x01\x40\x03bye\x00\x3c\x00\x28"},
	{&ConnectionCloseOk{}, "\x00\x0a\x00\x33"},
	{&ConnectionBlocked{"low on disk"}, "\x00\x0a\x00\x3c\x0blow on disk"},
	{&ConnectionUnblocked{}, "\x00\x0a\x00\x3d"},
	{&ConnectionUpdateSecret{[]byte("tok"), "old"}, "\x00\x0a\x00\x46\x00\x00\x00\x03tok\x03old"},
	{&ConnectionUpdateSecretOk{}, "\x00\x0a\x00\x47"},

	{&ChannelOpen{}, "\x00\x14\x00\x0a\x00"},
	{&ChannelOpenOk{}, "\x00\x14\x00\x0b\x00\x00\x00\x00"},
	{&ChannelFlow{true}, "\x00\x14\x00\x14\x01"},
	{&ChannelFlowOk{true}, "\x00\x14\x00\x15\x01"},
	{&ChannelClose{404, "no", 50, 10}, "\x00\x14\x00\x28\x01\x94\x02no\x00\x32\x00\x0a"},
	{&ChannelCloseOk{}, "\x00\x14\x00\x29"},

	{&AccessRequest{"/data", true, false, true, true, false}, "\x00\x1e\x00\x0a\x05/data\x0d"},
	{&AccessRequestOk{1}, "\x00\x1e\x00\x0b\x00\x01"},

	{&ExchangeDeclare{"x", "topic", false, true, false, true, true, args},
		"\x00\x28\x00\x0a\x00\x00\x01x\x05topic\x1a" + argsWire},
	{&ExchangeDeclareOk{}, "\x00\x28\x00\x0b"},
	{&ExchangeDelete{"x", true, false}, "\x00\x28\x00\x14\x00\x00\x01x\x01"},
	{&ExchangeDeleteOk{}, "\x00\x28\x00\x15"},
	{&ExchangeBind{"d", "s", "k", true, args}, "\x00\x28\x00\x1e\x00\x00\x01d\x01s\x01k\x01" + argsWire},
	{&ExchangeBindOk{}, "\x00\x28\x00\x1f"},
	{&ExchangeUnbind{"d", "s", "k", true, args}, "\x00\x28\x00\x28\x00\x00\x01d\x01s\x01k\x01" + argsWire},
	{&ExchangeUnbindOk{}, "\x00\x28\x00\x33"},

	{&QueueDeclare{"q", false, true, true, false, true, args}, "\x00\x32\x00\x0a\x00\x00\x01q\x16" + argsWire},
	{&QueueDeclareOk{"q", 3, 2}, "\x00\x32\x00\x0b\x01q\x00\x00\x00\x03\x00\x00\x00\x02"},
	{&QueueBind{"q", "x", "k", true, args}, "\x00\x32\x00\x14\x00\x00\x01q\x01x\x01k\x01" + argsWire},
	{&QueueBindOk{}, "\x00\x32\x00\x15"},
	{&QueuePurge{"q", true}, "\x00\x32\x00\x1e\x00\x00\x01q\x01"},
	{&QueuePurgeOk{5}, "\x00\x32\x00\x1f\x00\x00\x00\x05"},
	{&QueueDelete{"q", false, true, true}, "\x00\x32\x00\x28\x00\x00\x01q\x06"},
	{&QueueDeleteOk{5}, "\x00\x32\x00\x29\x00\x00\x00\x05"},
	{&QueueUnbind{"q", "x", "k", args}, "\x00\x32\x00\x32\x00\x00\x01q\x01x\x01k" + argsWire},
	{&QueueUnbindOk{}, "\x00\x32\x00\x33"},

	{&BasicQos{7, 100, true}, "\x00\x3c\x00\x0a\x00\x00\x00\x07\x00\x64\x01"},
	{&BasicQosOk{}, "\x00\x3c\x00\x0b"},
	{&BasicConsume{"q", "t", false, true, true, false, args}, "\x00\x3c\x00\x14\x00\x00\x01q\x01t\x06" + argsWire},
	{&BasicConsumeOk{"t"}, "\x00\x3c\x00\x15\x01t"},
	{&BasicCancel{"t", true}, "\x00\x3c\x00\x1e\x01t\x01"},
	{&BasicCancelOk{"t"}, "\x00\x3c\x00\x1f\x01t"},
	{&BasicPublish{[]byte("x"), []byte("key"), false, true}, "\x00\x3c\x00\x28\x00\x00\x01x\x03key\x02"},
	{&BasicReturn{312, "NO_ROUTE", "x", "key"}, "\x00\x3c\x00\x32\x01\x38\x08NO_ROUTE\x01x\x03key"},
	{&BasicDeliver{[]byte("t"), 258, true, []byte("x"), []byte("key")},
		"\x00\x3c\x00\x3c\x01t\x00\x00\x00\x00\x00\x00\x01\x02\x01\x01x\x03key"},
	{&BasicGet{"q", true}, "\x00\x3c\x00\x46\x00\x00\x01q\x01"},
	{&BasicGetOk{258, true, "x", "key", 9},
		"\x00\x3c\x00\x47\x00\x00\x00\x00\x00\x00\x01\x02\x01\x01x\x03key\x00\x00\x00\x09"},
	{&BasicGetEmpty{}, "\x00\x3c\x00\x48\x00"},
	{&BasicAck{258, true}, "\x00\x3c\x00\x50\x00\x00\x00\x00\x00\x00\x01\x02\x01"},
	{&BasicReject{258, true}, "\x00\x3c\x00\x5a\x00\x00\x00\x00\x00\x00\x01\x02\x01"},
	{&BasicRecoverAsync{true}, "\x00\x3c\x00\x64\x01"},
	{&BasicRecover{true}, "\x00\x3c\x00\x6e\x01"},
	{&BasicRecoverOk{}, "\x00\x3c\x00\x6f"},
	{&BasicNack{258, false, true}, "\x00\x3c\x00\x78\x00\x00\x00\x00\x00\x00\x01\x02\x02"},

	{&ConfirmSelect{true}, "\x00\x55\x00\x0a\x01"},
	{&ConfirmSelectOk{}, "\x00\x55\x00\x0b"},

	{&TxSelect{}, "\x00\x5a\x00\x0a"},
	{&TxSelectOk{}, "\x00\x5a\x00\x0b"},
	{&TxCommit{}, "\x00\x5a\x00\x14"},
	{&TxCommitOk{}, "\x00\x5a\x00\x15"},
	{&TxRollback{}, "\x00\x5a\x00\x1e"},
	{&TxRollbackOk{}, "\x00\x5a\x00\x1f"},
}

func TestMethods(t *testing.T) {
	seen := map[MethodID]bool{}
	for _, s := range samples {
		id := s.m.ID()
		seen[id] = true
		if got := appendMethod(nil, s.m); string(got) != s.wire {
			t.Errorf("%v: appended\n got %q\nwant %q", id, got, s.wire)
		}
		checkDecoding(t, s.m, s.wire, DecodeMethod)
	}
	for _, frequent := range []interface {
		Method
		Decode(args []byte) error
	}{&BasicPublish{[]byte("x"), []byte("key"), false, true}, &BasicAck{258, true}} {
		checkDecoding(t, frequent, string(appendMethod(nil, frequent)), func(payload []byte) (Method, error) {
			m := methods[frequent.ID()].alloc()
			return m, m.(interface{ Decode([]byte) error }).Decode(payload[4:])
		})
	}
	for id := range methods {
		if !seen[id] {
			t.Errorf("%v has no sample", id)
		}
	}
}

// checkDecoding decodes the payload of a method, too little of it, and too much.
func checkDecoding(t *testing.T, want Method, wire string, decode func(payload []byte) (Method, error)) {
	t.Helper()
	id := want.ID()
	m, err := decode([]byte(wire))
	if err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("%v: decoded %+v, %v; want %+v", id, m, err, want)
	}
	for n := 4; n < len(wire); n++ {
		if _, err := decode([]byte(wire)[:n]); !errors.Is(err, ErrMalformedMethod) {
			t.Errorf("%v: first %d bytes: %v", id, n, err)
		}
	}
	if _, err := decode([]byte(wire + "\x00")); !errors.Is(err, ErrMalformedMethod) {
		t.Errorf("%v: one byte too many: %v", id, err)
	}
}

// TestDecodeReplaces is for methods that are decoded repeatedly into the same value.
func TestDecodeReplaces(t *testing.T) {
	m := BasicPublish{Exchange: []byte("old"), RoutingKey: []byte("old"), Mandatory: true, Immediate: true}
	if err := m.Decode([]byte("\x00\x00\x00\x01k\x00")); err != nil {
		t.Fatal(err)
	}
	if len(m.Exchange) != 0 || string(m.RoutingKey) != "k" || m.Mandatory || m.Immediate {
		t.Errorf("decoded over an old value: %+v", m)
	}
}

func TestUnknownMethod(t *testing.T) {
	_, err := DecodeMethod([]byte("\x00\x3c\x00\x99rest"))
	var unknown *UnknownMethodError
	if !errors.Is(err, ErrUnknownMethod) || !errors.As(err, &unknown) || unknown.ID.Class() != 60 || unknown.ID.Method() != 0x99 {
		t.Errorf("DecodeMethod = %v", err)
	}
	if _, err := DecodeMethod([]byte("\x00\x3c\x00")); !errors.Is(err, ErrMalformedMethod) {
		t.Errorf("three bytes: %v", err)
	}
}

func TestMethodIDString(t *testing.T) {
	for id, want := range map[MethodID]string{
		IDQueueDeclare:           "queue.declare",
		IDBasicRecoverAsync:      "basic.recover-async",
		IDConnectionUpdateSecret: "connection.update-secret",
		60<<16 | 153:             "60.153",
	} {
		if got := id.String(); got != want {
			t.Errorf("String of %#x = %q, want %q", uint32(id), got, want)
		}
	}
}

func TestReplyTextIsCut(t *testing.T) {
	sent := func(text string) string {
		t.Helper()
		m, err := DecodeMethod(appendMethod(nil, &ConnectionClose{ReplyCode: amqpcode.NotFound, ReplyText: text}))
		if err != nil {
			t.Fatal(err)
		}
		return m.(*ConnectionClose).ReplyText
	}
	if got, want := sent(strings.Repeat("x", 254)+"é"), strings.Repeat("x", 252)+"..."; got != want {
		t.Errorf("a character across the limit: %d bytes, want %d", len(got), len(want))
	}
	if got := sent(strings.Repeat("x", 251) + "é is the last of it"); got != strings.Repeat("x", 251)+"..." {
		t.Errorf("a character across what is left: %q", got)
	}
	if got := sent(strings.Repeat("\x80", 300)); len(got) < 250 { // not text at all: still no more than fits
		t.Errorf("bytes that are no text: %d bytes", len(got))
	}
}

func FuzzDecodeMethod(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s.wire))
	}
	f.Add([]byte("\x00\x3c\x00\x99"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMethod(b)
		if err != nil {
			return
		}
		once := appendMethod(nil, m)
		again, err := DecodeMethod(once)
		if err != nil {
			t.Fatalf("decoding what was encoded: %v", err)
		}
		// Bytes are compared, not values: an argument table may hold a NaN.
		if twice := appendMethod(nil, again); !bytes.Equal(once, twice) {
			t.Fatalf("encoding is not stable:\n%q\n%q", once, twice)
		}
	})
}

func BenchmarkBasicPublishDecode(b *testing.B) {
	wire := appendMethod(nil, &BasicPublish{Exchange: []byte("orders"), RoutingKey: []byte("eu.created")})
	b.ReportAllocs()
	for b.Loop() {
		_, args, err := SplitMethod(wire)
		if err != nil {
			b.Fatal(err)
		}
		var m BasicPublish
		if err := m.Decode(args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBasicAckDecode(b *testing.B) {
	wire := appendMethod(nil, &BasicAck{DeliveryTag: 77, Multiple: true})
	b.ReportAllocs()
	for b.Loop() {
		_, args, err := SplitMethod(wire)
		if err != nil {
			b.Fatal(err)
		}
		var m BasicAck
		if err := m.Decode(args); err != nil {
			b.Fatal(err)
		}
	}
}
