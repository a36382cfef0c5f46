package streams_test

import (
	"fmt"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// start starts a broker with the protocol in front.
func start(t *testing.T) *resptest.Node {
	return resptest.Start(t, broker.Options{DiskFreeLimit: -1}, func(n *resptest.Node) resptest.Server {
		return resp.New(n.Broker, resp.Options{Shared: protocol.Shared{Semaphores: n.Semaphores, Log: n.Logger(), LoginDelay: -1}})
	})
}

// TestStreamWaits checks that an entry wakes all waiting readers without a group and one reader of
// each group, and that a read that need not wait returns at once.
func TestStreamWaits(t *testing.T) {
	n := start(t)
	a, b, g1, g2, other := n.Dial(), n.Dial(), n.Dial(), n.Dial(), n.Dial()
	a.Send(resptest.Encode("XREAD", "BLOCK", "0", "STREAMS", "s", "new", "$", "0")) // neither exists
	n.UntilBlocked(other, 1)
	other.Wants("XADD s 1-1 f v", `"1-1"`)
	if got, want := a.Reply(), `[["s" [["1-1" ["f" "v"]]]]]`; got != want {
		t.Fatalf("a stream that was declared: %s", got)
	}
	other.Wants("XGROUP CREATE s g 0", "+OK")
	other.Wants("XREADGROUP GROUP g c BLOCK 1000 STREAMS s >", `[["s" [["1-1" ["f" "v"]]]]]`)
	a.Send(resptest.Encode("XREAD", "BLOCK", "0", "STREAMS", "s", "$"))
	n.UntilBlocked(other, 1)
	b.Send(resptest.Encode("XREAD", "BLOCK", "0", "STREAMS", "s", "1-1"))
	n.UntilBlocked(other, 2)
	g1.Send(resptest.Encode("XREADGROUP", "GROUP", "g", "c1", "BLOCK", "0", "STREAMS", "s", ">"))
	n.UntilBlocked(other, 3)
	g2.Send(resptest.Encode("XREADGROUP", "GROUP", "g", "c2", "BLOCK", "0", "STREAMS", "s", ">"))
	n.UntilBlocked(other, 4)
	for i, c := range []*resptest.Client{g1, g2} {
		id := fmt.Sprintf("2-%d", i)
		other.Wants("XADD s "+id+" f v", fmt.Sprintf("%q", id))
		want := fmt.Sprintf(`[["s" [["%s" ["f" "v"]]]]]`, id)
		if got := c.Reply(); got != want {
			t.Fatalf("group %d: %s", i, got)
		}
		if i == 0 {
			for _, c := range []*resptest.Client{a, b} {
				if got := c.Reply(); got != want {
					t.Fatalf("without a group: %s", got)
				}
			}
		}
	}
	other.Wants("XPENDING s g", `[3 "1-1" "2-1" [["c" "1"] ["c1" "1"] ["c2" "1"]]]`)
	other.Wants("XREAD BLOCK 1 STREAMS s $", "nilarray")
	other.Wants("XREADGROUP GROUP g c BLOCK 1 STREAMS s >", "nilarray")
	other.Wants("XREADGROUP GROUP g c BLOCK 0 STREAMS s 0", `[["s" [["1-1" ["f" "v"]]]]]`)
	other.Wants("XREAD BLOCK 0 STREAMS s none 1-1 0", `[["s" [["2-0" ["f" "v"]] ["2-1" ["f" "v"]]]]]`)
	g1.Send(resptest.Encode("XREADGROUP", "GROUP", "g", "c1", "BLOCK", "0", "STREAMS", "s", ">"))
	n.UntilBlocked(other, 1)
	other.Wants("XGROUP DESTROY s g", "1")
	if got, want := g1.Reply(), "-NOGROUP the consumer group this client was blocked on no longer exists"; got != want {
		t.Fatalf("a group that went: %s", got)
	}
}

// TestForeignEntries checks that a message of another protocol is an entry with its fields shown as
// text.
func TestForeignEntries(t *testing.T) {
	n := start(t)
	c := n.Dial()
	c.Wants("XADD s 5-1 f v", `"5-1"`)
	s, err := n.Broker.Operate("/")
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
	s.Publish(&shard.Publish{Targets: targets, Env: append(message.AppendEnvelopeHeader(nil, "", "s", props), "hello"...), TTL: -1,
		Confirm: confirmed(done), Seq: 1})
	s.Flush()
	if !<-done {
		t.Fatal("not taken")
	}
	got := c.Do("XRANGE", "s", "(5-1", "+")
	_, got, _ = strings.Cut(got, `" [`)
	want := `"body" "hello" "text" "t" "n" "-7" "yes" "true" "half" "0.5" "none" "" "at" "9" "deep" "{\"a\":[1,\"b\"]}" "price" "1.05" "raw" "\x00"]]]`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

type confirmed chan bool

func (c confirmed) Confirmed(_, _ uint64, ok bool) { c <- ok }

// TestWatch checks that EXEC notices when the entries of a watched stream change, and that, as in
// Redis, what groups read and acknowledge is no change.
func TestWatch(t *testing.T) {
	n := start(t)
	c, other := n.Dial(), n.Dial()
	for _, tc := range []struct {
		queue, then string
		done        bool
	}{
		{"s", "XADD s 1-1 f v", false}, // it was missing
		{"s", "XLEN s", true},
		{"s", "XADD s 2-1 f v", false},
		{"s", "XADD s 1-1 f v", true},
		{"s", "XADD s MAXLEN 2 3-1 f v", false},
		{"s", "XDEL s 9-9", true},
		{"s", "XDEL s 2-1", false},
		{"s", "XGROUP CREATE s g 0", true},
		{"s", "XREADGROUP GROUP g c STREAMS s >", true},
		{"s", "XACK s g 3-1", true},
		{"s", "XGROUP DESTROY s g", true},
		{"s", "XTRIM s MAXLEN 5", true},
		{"s", "XTRIM s MAXLEN 0", false},
		{"s", "DEL s", false},
		{"none", "XADD none NOMKSTREAM * f v", true},
		{"made", "XGROUP CREATE made g $ MKSTREAM", false},
		{"list", "LPUSH list x", false},
		{"list", "RPOP list", false},
		{"list", "XGROUP CREATE list g $ MKSTREAM", false},
	} {
		c.Wants("WATCH "+tc.queue, "+OK")
		if got := other.Do(strings.Fields(tc.then)...); strings.HasPrefix(got, "-") && !tc.done {
			t.Fatalf("%s: %s", tc.then, got)
		}
		c.Wants("MULTI", "+OK")
		c.Wants("ECHO x", "+QUEUED")
		want := "nilarray"
		if tc.done {
			want = `["x"]`
		}
		if got := c.Do("EXEC"); got != want {
			t.Errorf("%s: EXEC has %s", tc.then, got)
		}
	}
}
