package message

import (
	"errors"
	"strings"
	"testing"
)

const envelopeWire = "\x02ex" + "\x03key" + "\x00\x00\x00\x03\x10\x00\x02" + "body"

func TestEnvelope(t *testing.T) {
	e := Envelope(append(AppendEnvelopeHeader(nil, "ex", "key", []byte("\x10\x00\x02")), "body"...))
	if string(e) != envelopeWire {
		t.Fatalf("built %q, want %q", e, envelopeWire)
	}
	if n := EnvelopeSize(2, 3, 3, 4); n != len(envelopeWire) {
		t.Errorf("EnvelopeSize = %d, want %d", n, len(envelopeWire))
	}
	exchange, key, props, body := e.Split()
	if string(exchange) != "ex" || string(key) != "key" || string(props) != "\x10\x00\x02" || string(body) != "body" {
		t.Errorf("Split = %q %q %q %q", exchange, key, props, body)
	}
	if string(e.Exchange()) != "ex" || string(e.Key()) != "key" ||
		string(e.Properties()) != "\x10\x00\x02" || string(e.Body()) != "body" {
		t.Errorf("parts = %q %q %q %q", e.Exchange(), e.Key(), e.Properties(), e.Body())
	}
}

func TestEnvelopeEmptyParts(t *testing.T) {
	e := Envelope(AppendEnvelopeHeader(nil, []byte(nil), nil, []byte{0, 0}))
	if err := CheckEnvelope(e); err != nil {
		t.Fatalf("CheckEnvelope: %v", err)
	}
	exchange, key, props, body := e.Split()
	if len(exchange) != 0 || len(key) != 0 || string(props) != "\x00\x00" || len(body) != 0 {
		t.Errorf("Split = %q %q %q %q", exchange, key, props, body)
	}
}

func TestCheckEnvelope(t *testing.T) {
	headerSize := len(envelopeWire) - len("body")
	for n := range len(envelopeWire) + 1 {
		err := CheckEnvelope([]byte(envelopeWire)[:n])
		if n < headerSize && !errors.Is(err, ErrMalformedEnvelope) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if n >= headerSize && err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	badProps := strings.Replace(envelopeWire, "\x10\x00", "\x10\x01", 1)
	if err := CheckEnvelope([]byte(badProps)); !errors.Is(err, ErrMalformedEnvelope) || !errors.Is(err, ErrMalformedProperties) {
		t.Errorf("bad properties: %v", err)
	}
}

func TestAppendShortStrLimit(t *testing.T) {
	longest := strings.Repeat("x", MaxShortStr)
	if got := AppendShortStr(nil, longest); len(got) != 1+MaxShortStr || got[0] != 255 {
		t.Errorf("255 bytes: length octet %d, %d bytes", got[0], len(got))
	}
	defer func() {
		if recover() == nil {
			t.Error("256 bytes were accepted")
		}
	}()
	AppendShortStr(nil, longest+"x")
}
