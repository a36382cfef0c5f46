package streams

import (
	"fmt"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// TestFields checks that the fields of any entry are returned unchanged, and that the message is as
// useful as possible to other protocols.
func TestFields(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		fields  []string
		body    string
		headers message.Table // without the exact header
		exact   bool
	}{
		{[]string{"body", "b"}, "b", nil, false},
		{[]string{"body", ""}, "", nil, false},
		{[]string{"body", "b", "k", "v", "l", "\xff"}, "b", message.Table{{Name: "k", Value: "v"}, {Name: "l", Value: "\xff"}}, false},
		{[]string{"k", "v"}, "", message.Table{{Name: "k", Value: "v"}}, false},
		{[]string{"", ""}, "", message.Table{{Name: "", Value: ""}}, false},
		{[]string{"k", "v", "body", "b"}, "b", message.Table{{Name: "k", Value: "v"}}, true},
		{[]string{"body", "", "k", "v"}, "", message.Table{{Name: "k", Value: "v"}}, true},
		{[]string{"body", "b", "body", "c"}, "b", message.Table{}, true},
		{[]string{"k", "v", "k", "w"}, "", message.Table{{Name: "k", Value: "v"}}, true},
		{[]string{long, "v"}, "", message.Table{}, true},
		{[]string{"x-stream-fields", "v"}, "", message.Table{}, true},
	} {
		var in [][]byte
		for _, f := range c.fields {
			in = append(in, []byte(f))
		}
		props, body := messageOf(in)
		env := message.Envelope(append(message.AppendEnvelopeHeader(nil, "", "s", props), body...))
		var got []string
		for _, f := range fieldsOf(env) {
			got = append(got, string(f))
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.fields) {
			t.Errorf("%q comes back as %q", c.fields, got)
		}
		p, err := message.DecodeProperties(props)
		if err != nil {
			t.Fatal(err)
		}
		_, exact := p.Headers.Get(exactHeader)
		p.Headers.Delete(exactHeader)
		if string(body) != c.body || exact != c.exact || fmt.Sprint(p.Headers) != fmt.Sprint(c.headers) {
			t.Errorf("%q is body %q, headers %v, exact %v", c.fields, body, p.Headers, exact)
		}
	}
	big := [][]byte{[]byte("k"), []byte(strings.Repeat("v", mostHeaders))}
	props, body := messageOf(big)
	if len(props) > 100 {
		t.Errorf("%d bytes of properties", len(props))
	}
	got := fieldsOf(append(message.AppendEnvelopeHeader(nil, "", "s", props), body...))
	if len(got) != 2 || string(got[1]) != string(big[1]) {
		t.Error("a large field does not come back")
	}
}
