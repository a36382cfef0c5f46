package message

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

var allProperties = Properties{
	Flags:           ^unknownFlags,
	ContentType:     "text/plain",
	ContentEncoding: "gzip",
	Headers:         Table{{"h", int32(1)}},
	DeliveryMode:    Persistent,
	Priority:        9,
	CorrelationID:   "c",
	ReplyTo:         "r",
	Expiration:      "5000",
	MessageID:       "m",
	Timestamp:       258,
	Type:            "t",
	UserID:          "guest",
	AppID:           "a",
	ClusterID:       "",
}

const allPropertiesWire = "\xff\xfc" +
	"\x0atext/plain" +
	"\x04gzip" +
	"\x00\x00\x00\x07\x01hI\x00\x00\x00\x01" +
	"\x02" +
	"\x09" +
	"\x01c" +
	"\x01r" +
	"\x045000" +
	"\x01m" +
	"\x00\x00\x00\x00\x00\x00\x01\x02" +
	"\x01t" +
	"\x05guest" +
	"\x01a" +
	"\x00"

func TestPropertiesBytes(t *testing.T) {
	if got := allProperties.Append(nil); string(got) != allPropertiesWire {
		t.Errorf("Append:\n got %q\nwant %q", got, allPropertiesWire)
	}
	p, err := DecodeProperties([]byte(allPropertiesWire))
	if err != nil || !reflect.DeepEqual(p, allProperties) {
		t.Errorf("DecodeProperties = %+v, %v", p, err)
	}
}

func TestPropertiesSubsets(t *testing.T) {
	for bit := 2; bit < 16; bit++ {
		p := Properties{Flags: 1 << bit}
		if p.Has(HasHeaders) {
			p.Headers = Table{}
		}
		wire := p.Append(nil)
		got, err := DecodeProperties(wire)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("only bit %d: %+v, %v", bit, got, err)
		}
		if _, err := PeekProperties(wire); err != nil {
			t.Errorf("only bit %d: PeekProperties: %v", bit, err)
		}
	}
}

func TestPropertiesMalformed(t *testing.T) {
	for name, wire := range map[string]string{
		"nothing":             "",
		"half a flag word":    "\x80",
		"continuation word":   "\x00\x01\x00\x00",
		"flag of no property": "\x00\x02",
		"missing field":       "\x80\x00",
		"cut field":           "\x80\x00\x05text",
		"bytes left":          "\x10\x00\x02\x00",
		"cut headers":         "\x20\x00\x00\x00\x00\x05abcd",
	} {
		if _, err := DecodeProperties([]byte(wire)); !errors.Is(err, ErrMalformedProperties) {
			t.Errorf("%s: DecodeProperties = %v", name, err)
		}
		if _, err := PeekProperties([]byte(wire)); !errors.Is(err, ErrMalformedProperties) {
			t.Errorf("%s: PeekProperties = %v", name, err)
		}
	}
	badHeaders := []byte("\x20\x00\x00\x00\x00\x03\x01aZ")
	if _, err := DecodeProperties(badHeaders); !errors.Is(err, ErrMalformedTable) {
		t.Errorf("bad header table: DecodeProperties = %v", err)
	}
	if _, err := PeekProperties(badHeaders); err != nil {
		t.Errorf("PeekProperties looks into the headers: %v", err)
	}
}

func TestPeekProperties(t *testing.T) {
	got, err := PeekProperties([]byte(allPropertiesWire))
	if err != nil {
		t.Fatal(err)
	}
	want := Peek{
		List:          []byte(allPropertiesWire),
		DeliveryMode:  Persistent,
		Priority:      9,
		HasPriority:   true,
		HasTimestamp:  true,
		Timestamp:     258,
		Headers:       []byte("\x01hI\x00\x00\x00\x01"),
		CorrelationID: []byte("c"),
		ReplyTo:       []byte("r"),
		Expiration:    []byte("5000"),
		MessageID:     []byte("m"),
		UserID:        []byte("guest"),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("PeekProperties = %+v\nwant %+v", got, want)
	}
	if !got.Persistent() {
		t.Error("Persistent = false for delivery mode 2")
	}

	none, err := PeekProperties([]byte{0, 0})
	if err != nil || !reflect.DeepEqual(none, Peek{List: []byte{0, 0}}) {
		t.Errorf("of an empty list: %+v, %v", none, err)
	}
	empty, err := PeekProperties([]byte("\x01\x00\x00"))
	if err != nil || empty.Expiration == nil || len(empty.Expiration) != 0 {
		t.Errorf("an empty expiration reads as %v, %v; want set and empty", empty.Expiration, err)
	}
}

func TestChecksDoNotAllocate(t *testing.T) {
	props, table := []byte(allPropertiesWire), []byte(allTypesWire)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := PeekProperties(props); err != nil {
			t.Error(err)
		}
		if err := CheckTable(table); err != nil {
			t.Error(err)
		}
		if _, ok := HeaderLookup(table, "absent"); ok {
			t.Error("found")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func FuzzProperties(f *testing.F) {
	f.Add([]byte(allPropertiesWire))
	f.Add([]byte{0, 0})
	f.Add([]byte("\x20\x00\x00\x00\x00\x04\x01tt\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		peek, peekErr := PeekProperties(b)
		p, err := DecodeProperties(b)
		if err != nil {
			// The only error that Peek may miss is a bad header table.
			if peekErr == nil && CheckTable(peek.Headers) == nil {
				t.Fatalf("DecodeProperties says %v, PeekProperties nil", err)
			}
			return
		}
		if peekErr != nil {
			t.Fatalf("PeekProperties says %v, DecodeProperties nil", peekErr)
		}
		if string(peek.Expiration) != p.Expiration || string(peek.UserID) != p.UserID || peek.Timestamp != p.Timestamp ||
			peek.Priority != p.Priority || peek.DeliveryMode != p.DeliveryMode || (peek.Headers != nil) != p.Has(HasHeaders) {
			t.Fatalf("Peek %+v and Properties %+v differ", peek, p)
		}
		once := p.Append(nil)
		if len(once) != len(b) {
			t.Fatalf("encoded again: %d bytes, want %d", len(once), len(b))
		}
		again, err := DecodeProperties(once)
		if err != nil {
			t.Fatalf("decoding what was encoded: %v", err)
		}
		if twice := again.Append(nil); !bytes.Equal(once, twice) {
			t.Fatalf("encoding is not stable:\n%q\n%q", once, twice)
		}
	})
}

func BenchmarkPeekProperties(b *testing.B) {
	typical := Properties{
		Flags:        HasContentType | HasDeliveryMode | HasMessageID,
		ContentType:  "application/json",
		DeliveryMode: Persistent,
		MessageID:    "0190f3c2-7d1e-7a55",
	}
	for name, wire := range map[string][]byte{"typical": typical.Append(nil), "all": []byte(allPropertiesWire)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := PeekProperties(wire); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
