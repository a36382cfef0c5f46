package value

import (
	"bytes"
	"testing"

	"fiveways.dev/fiveways/internal/core/hstore"
)

// upper is a conversion that changes the length.
func upper(b []byte) ([]byte, error) {
	return append(bytes.ToUpper(b), '!'), nil
}

// TestRecodeBinary converts the texts in values of every structure and parses the results.
func TestRecodeBinary(t *testing.T) {
	set := Defaults()
	pairs := hstore.Map{{Key: "k", Value: "v"}, {Key: "n", Null: true}}
	hstores := &Array{Elem: Hstore, Dims: []Dim{{Len: 1, Lower: 1}}, Elems: []Datum{pairs}}
	texts := &Array{Elem: Text, Dims: []Dim{{Len: 2, Lower: 1}, {Len: 2, Lower: 0}}, Elems: []Datum{"a", nil, "", "b"}}
	for _, c := range []struct {
		t    *Type
		d    Datum
		want string
	}{
		{Text, "abc", "ABC!"}, {Int4, int64(5), "5"}, {Bytea, []byte("abc"), `\x616263`},
		{UUID, "00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"},
		{Text.Array, texts, `[1:2][0:1]={{A!,NULL},{!,B!}}`}, {Hstore.Array, hstores, `{"\"K!\"=>\"V!\", \"N!\"=>NULL"}`},
		{QTModel, Record{int64(1), nil, "iid", nil, nil, nil, nil, pairs[:1], nil}, `(1,,IID!,,,,,"""K!""=>""V!""",)`},
	} {
		b, err := AppendBinary(nil, c.t, c.d)
		if err != nil {
			t.Fatal(err)
		}
		made, err := RecodeBinary(c.t, b, upper)
		if err != nil {
			t.Fatal(err)
		}
		d, err := ParseBinary(c.t, made)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		if got := String(c.t, d, &set); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// FuzzRecodeBinary: a conversion that changes nothing copies any input unchanged.
func FuzzRecodeBinary(f *testing.F) {
	types := []*Type{Text.Array, Hstore, QTModel, QTModel.Array, Int4.Array, OIDVector, JSONB, RecordT}
	f.Add(0, []byte("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01a"))
	f.Add(1, []byte("\xff\xff\xff\xff\x00\x00\x00\x01a"))
	f.Add(2, []byte("\x00\x00\x00\x01\x00\x00\x00\x14\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, which int, b []byte) {
		same := func(b []byte) ([]byte, error) { return b, nil }
		made, err := RecodeBinary(types[uint(which)%uint(len(types))], b, same)
		if err != nil || !bytes.Equal(made, b) {
			t.Errorf("%x became %x: %v", b, made, err)
		}
	})
}
