package message

import (
	"slices"
	"testing"
)

func TestSkipHeaderSeesWhatDecodingSees(t *testing.T) {
	table := Table{
		{"text", "value"}, {"", ""}, {"int", int32(1)}, {"long", int64(1)}, {"time", Timestamp(1)}, {"flag", true}, {"nothing", nil},
		{"double", 1.5}, {"decimal", Decimal{Scale: 1, Value: 2}}, {"nested", Table{{"text", "inner"}, {"list", Array{"x", int8(1)}}}},
		{"bytes", Bytes("x")}, {"small", int8(1)}, {"short", int16(1)}, {"last", "x"},
	}
	raw := AppendTable(nil, table)[4:]
	var got []string
	for rest := raw; len(rest) > 0; {
		var name []byte
		name, rest = SkipHeader(rest)
		got = append(got, string(name))
	}
	var want []string
	for _, f := range table {
		want = append(want, f.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for n := range raw { // a truncated table ends, wherever it was cut
		for rest := raw[:n]; len(rest) > 0; {
			var next []byte
			if _, next = SkipHeader(rest); len(next) >= len(rest) {
				t.Fatalf("cut at %d: no way forward", n)
			}
			rest = next
		}
	}
}
