package message

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestFindHeader(t *testing.T) {
	raw := AppendTable(nil, Table{
		{"text", "abc"}, {"octets", Bytes{1, 2}}, {"int", int32(7)}, {"void", nil}, {"table", Table{{"in", "x"}}}, {"array", Array{int8(1)}},
		{"text", "second"}, {"", true},
	})[4:]
	for _, c := range []struct {
		name   string
		letter byte
		value  string
	}{
		{"text", 'S', "abc"}, {"octets", 'x', "\x01\x02"}, {"int", 'I', "\x00\x00\x00\x07"}, {"void", 'V', ""},
		{"table", 'F', "\x02inS\x00\x00\x00\x01x"}, {"array", 'A', "b\x01"}, {"", 't', "\x01"},
	} {
		if letter, value, ok := FindHeader(raw, c.name); !ok || letter != c.letter || string(value) != c.value {
			t.Errorf("%q: letter %q, value %q, found %v", c.name, letter, value, ok)
		}
	}
	for _, name := range []string{"none", "in", "tex"} {
		if _, _, ok := FindHeader(raw, name); ok {
			t.Errorf("%q found", name)
		}
	}
	for end := range raw {
		if _, value, ok := FindHeader(raw[:end], "none"); ok {
			t.Errorf("cut at %d: found %q", end, value)
		}
	}
	if _, _, ok := FindHeader([]byte("\x01a?\x01bt\x01"), "b"); ok {
		t.Error("found a value behind an unknown letter")
	}
}

// TestFindPropertyAgrees compares each property with the result of a full decode.
func TestFindPropertyAgrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 5, 20)
		want := Properties{
			Flags:       PropertyFlags(rapid.Uint16().Draw(rt, "flags")) &^ unknownFlags,
			ContentType: text.Draw(rt, "type"), ContentEncoding: text.Draw(rt, "encoding"), Headers: Table{{"a", "b"}},
			DeliveryMode: rapid.Uint8().Draw(rt, "mode"), Priority: rapid.Uint8().Draw(rt, "priority"),
			CorrelationID: text.Draw(rt, "correlation"), ReplyTo: "r", Expiration: "1", MessageID: text.Draw(rt, "id"), Timestamp: 0x0102030405060708,
			Type: "t", UserID: "u", AppID: "a", ClusterID: text.Draw(rt, "cluster"),
		}
		list := want.Append(nil)
		for which, value := range map[PropertyFlags]string{
			HasContentType: want.ContentType, HasContentEncoding: want.ContentEncoding, HasHeaders: "\x01aS\x00\x00\x00\x01b",
			HasDeliveryMode: string([]byte{want.DeliveryMode}), HasPriority: string([]byte{want.Priority}), HasCorrelationID: want.CorrelationID,
			HasReplyTo: "r", HasExpiration: "1", HasMessageID: want.MessageID, HasTimestamp: "\x01\x02\x03\x04\x05\x06\x07\x08",
			HasType: "t", HasUserID: "u", HasAppID: "a", HasClusterID: want.ClusterID,
		} {
			got, ok := FindProperty(list, which)
			if ok != want.Has(which) || ok && !bytes.Equal(got, []byte(value)) {
				rt.Fatalf("flag %#x: %q, %v; want %q, %v", uint16(which), got, ok, value, want.Has(which))
			}
			if got, ok := FindProperty(list[:len(list)/2], which); ok && string(got) != value {
				rt.Fatalf("flag %#x in half a list: %q", uint16(which), got)
			}
		}
	})
}

func TestNextField(t *testing.T) {
	raw := []byte(allTypesWire)
	for _, f := range allTypes {
		name, letter, value, rest, ok := NextField(raw)
		wantLetter, want, _ := FindHeader([]byte(allTypesWire), f.Name)
		if !ok || string(name) != f.Name || letter != wantLetter || string(value) != string(want) {
			t.Fatalf("%q: %q %c %q %v, want %c %q", f.Name, name, letter, value, ok, wantLetter, want)
		}
		raw = rest
	}
	if _, _, _, _, ok := NextField(raw); ok || len(raw) != 0 {
		t.Errorf("a field after the last")
	}
	if _, _, _, _, ok := NextField([]byte("\x01SS\x00\x00\x00\x09hi")); ok {
		t.Errorf("a cut field was found")
	}
}
