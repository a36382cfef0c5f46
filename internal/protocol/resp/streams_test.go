package resp

import (
	"fmt"
	"strings"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
)

// TestStreamWaits: readers of a stream are woken by an entry, all of those without a group and one of a group; what nobody waits for comes at once.
func TestStreamWaits(t *testing.T) {
	n := startNode(t, Options{})
	a, b, g1, g2, other := n.dial(), n.dial(), n.dial(), n.dial(), n.dial()
	a.send(encode("XREAD", "BLOCK", "0", "STREAMS", "s", "new", "$", "0")) // neither is there
	n.untilBlocked(other, 1)
	other.wants("XADD s 1-1 f v", `"1-1"`)
	if got, want := a.reply(), `[["s" [["1-1" ["f" "v"]]]]]`; got != want {
		t.Fatalf("a stream that was declared: %s", got)
	}
	other.wants("XGROUP CREATE s g 0", "+OK")
	other.wants("XREADGROUP GROUP g c BLOCK 1000 STREAMS s >", `[["s" [["1-1" ["f" "v"]]]]]`)
	a.send(encode("XREAD", "BLOCK", "0", "STREAMS", "s", "$"))
	n.untilBlocked(other, 1)
	b.send(encode("XREAD", "BLOCK", "0", "STREAMS", "s", "1-1"))
	n.untilBlocked(other, 2)
	g1.send(encode("XREADGROUP", "GROUP", "g", "c1", "BLOCK", "0", "STREAMS", "s", ">"))
	n.untilBlocked(other, 3)
	g2.send(encode("XREADGROUP", "GROUP", "g", "c2", "BLOCK", "0", "STREAMS", "s", ">"))
	n.untilBlocked(other, 4)
	for i, c := range []*client{g1, g2} {
		id := fmt.Sprintf("2-%d", i)
		other.wants("XADD s "+id+" f v", fmt.Sprintf("%q", id))
		want := fmt.Sprintf(`[["s" [["%s" ["f" "v"]]]]]`, id)
		if got := c.reply(); got != want {
			t.Fatalf("group %d: %s", i, got)
		}
		if i == 0 {
			for _, c := range []*client{a, b} {
				if got := c.reply(); got != want {
					t.Fatalf("without a group: %s", got)
				}
			}
		}
	}
	other.wants("XPENDING s g", `[3 "1-1" "2-1" [["c" "1"] ["c1" "1"] ["c2" "1"]]]`)
	other.wants("XREAD BLOCK 1 STREAMS s $", "nilarray")
	other.wants("XREADGROUP GROUP g c BLOCK 1 STREAMS s >", "nilarray")
	other.wants("XREADGROUP GROUP g c BLOCK 0 STREAMS s 0", `[["s" [["1-1" ["f" "v"]]]]]`)
	other.wants("XREAD BLOCK 0 STREAMS s none 1-1 0", `[["s" [["2-0" ["f" "v"]] ["2-1" ["f" "v"]]]]]`)
	g1.send(encode("XREADGROUP", "GROUP", "g", "c1", "BLOCK", "0", "STREAMS", "s", ">"))
	n.untilBlocked(other, 1)
	other.wants("XGROUP DESTROY s g", "1")
	if got, want := g1.reply(), "-NOGROUP the consumer group this client was blocked on no longer exists"; got != want {
		t.Fatalf("a group that went: %s", got)
	}
}

// TestFields: whatever the fields of an entry are, they come back as they were, and the message is what other protocols can make the most of.
func TestFields(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		fields  []string
		body    string
		headers message.Table // without the exact ones
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

// TestForeignEntries: a message of another protocol is an entry, shown as text.
func TestForeignEntries(t *testing.T) {
	n := startNode(t, Options{})
	c := n.dial()
	c.wants("XADD s 5-1 f v", `"5-1"`)
	s, err := n.b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := message.Properties{Flags: message.HasHeaders, Headers: message.Table{
		{Name: "text", Value: "t"}, {Name: "n", Value: int32(-7)}, {Name: "yes", Value: true}, {Name: "half", Value: 0.5},
		{Name: "none", Value: nil}, {Name: "at", Value: message.Timestamp(9)}, {Name: "deep", Value: message.Table{{Name: "a", Value: message.Array{int64(1), "b"}}}},
		{Name: "price", Value: message.Decimal{Scale: 2, Value: 105}}, {Name: "raw", Value: message.Bytes("\x00")},
	}}
	props := p.Append(nil)
	peek, err := message.PeekProperties(props)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := s.Route(nil, []byte("s"), &peek, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool, 1)
	s.Publish(&broker.Publish{Targets: targets, Env: append(message.AppendEnvelopeHeader(nil, "", "s", props), "hello"...), TTL: -1,
		Confirm: confirmed(done), Seq: 1})
	s.Flush()
	if !<-done {
		t.Fatal("not taken")
	}
	got := c.do("XRANGE", "s", "(5-1", "+")
	_, got, _ = strings.Cut(got, `" [`)
	want := `"body" "hello" "text" "t" "n" "-7" "yes" "true" "half" "0.5" "none" "" "at" "9" "deep" "{\"a\":[1,\"b\"]}" "price" "1.05" "raw" "\x00"]]]`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

type confirmed chan bool

func (c confirmed) Confirmed(_, _ uint64, ok bool) { c <- ok }
