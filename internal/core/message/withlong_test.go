package message

import (
	"reflect"
	"testing"
)

// TestAppendWithLong compares with decoding, setting the header and encoding.
func TestAppendWithLong(t *testing.T) {
	for name, p := range map[string]Properties{
		"nothing":       {},
		"no headers":    {Flags: HasContentType | HasDeliveryMode | HasMessageID, ContentType: "text/plain", DeliveryMode: 2, MessageID: "m"},
		"empty headers": {Flags: HasHeaders},
		"headers":       {Flags: HasContentEncoding | HasHeaders | HasAppID, ContentEncoding: "gzip", Headers: Table{{Name: "a", Value: int32(1)}}, AppID: "x"},
		"it is there":   {Flags: HasHeaders | HasType, Headers: Table{{Name: "n", Value: "old"}, {Name: "z", Value: true}}, Type: "t"},
	} {
		got, err := AppendWithLong([]byte("before"), p.Append(nil), "n", 7)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.Headers = append(Table{}, p.Headers...)
		p.Headers.Set("n", int64(7))
		p.Flags |= HasHeaders
		decoded, err := DecodeProperties(got[len("before"):])
		if err != nil || !reflect.DeepEqual(decoded, p) {
			t.Errorf("%s: got %+v, %v, want %+v", name, decoded, err, p)
		}
	}
	if _, err := AppendWithLong(nil, []byte{0x20, 0, 0, 0, 0, 9}, "n", 1); err == nil {
		t.Error("a list that ends early is taken")
	}
}
