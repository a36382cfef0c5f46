package consumeafter

import (
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

func TestIDs(t *testing.T) {
	for _, row := range []struct {
		value any
		want  []string
	}{
		{nil, nil}, {int32(5), nil},
		{"a", []string{"a"}}, {"a,b", []string{"a,b"}}, {"{", []string{"{"}},
		{message.Array{"a", message.Bytes("b"), int32(1), "c"}, []string{"a", "b", "c"}},
		{message.Bytes("a"), []string{"a"}}, {message.Bytes("{a,b}"), []string{"a", "b"}},
		{"{}", nil}, {"{a}", []string{"a"}}, {"{a,b c, d }", []string{"a", "b c", "d"}},
		{`{"a,b", "c\"}d" ,NULL,"null",e\,f}`, []string{"a,b", `c"}d`, "null", "e,f"}},
		{`{"a`, []string{`{"a`}}, {`{"a}`, []string{"a"}}, {`{,}`, nil}, {`{\}`, []string{`\`}},
	} {
		raw := message.AppendTable(nil, message.Table{{Name: "other", Value: "x"}, {Name: "consume_after", Value: row.value}})
		if got, ok := IDs(raw[4:]); !ok || !slices.Equal(got, row.want) {
			t.Errorf("%v: %q, want %q", row.value, got, row.want)
		}
	}
	for name, headers := range map[string][]byte{"none": nil, "others": message.AppendTable(nil, message.Table{{Name: "x", Value: "y"}})[4:]} {
		if got, ok := IDs(headers); ok || got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
