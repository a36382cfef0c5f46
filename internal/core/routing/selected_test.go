package routing

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// only returns the arguments of a binding with a selector.
func only(text string, more ...message.Field) message.Table {
	return append(message.Table{{Name: "x-selector", Value: text}}, more...)
}

// TestSelectorOnEveryType checks that a binding with a selector gets messages that match both the
// exchange's type and the selector.
func TestSelectorOnEveryType(t *testing.T) {
	red, blue := message.Table{{Name: "color", Value: "red"}}, message.Table{{Name: "color", Value: "blue"}}
	for _, c := range []struct {
		kind, key string
		args      []message.Field // required by the type
		hit, miss string          // keys that match or do not match, "": any
	}{
		{TypeDirect, "k", nil, "k", "other"},
		{TypeTopic, "a.*", nil, "a.b", "b.a"},
		{TypeFanout, "", nil, "x", ""},
		{TypeHeaders, "", []message.Field{{Name: "color", Value: nil}}, "x", ""},
		{TypeHeaders, "", []message.Field{{Name: "color", Value: nil}, {Name: "x-match", Value: "all-with-x"}}, "x", ""},
		{TypeHash, "3", nil, "x", ""},
		{TypeModulusHash, "", nil, "x", ""},
		{TypeRandom, "", nil, "x", ""},
	} {
		table := declare(t, New(), ExchangeSpec{Name: "x", Type: c.kind})
		b := Binding{Source: "x", ToQueue: 1, Key: c.key, Args: only("color = 'red'", c.args...)}
		table = bind(t, table, b)
		send := func(key string, headers message.Table, want ...QueueID) {
			t.Helper()
			m := withHeaders(headers)
			m.Key = []byte(key)
			requireRoute(t, table, "x", m, want...)
		}
		send(c.hit, red, 1)
		send(c.hit, blue)
		send(c.hit, nil)
		if c.miss != "" {
			send(c.miss, red)
		}
		table = bind(t, table, Binding{Source: "x", ToQueue: 2, Key: c.key, Args: c.args})
		send(c.hit, red, 1, 2)
		send(c.hit, blue, 2)
		if _, added, err := table.Bind(b); added || err != nil {
			t.Errorf("%s: the same binding again: added %v, %v", c.kind, added, err)
		}
		table = unbind(t, table, b)
		send(c.hit, red, 2)
		checkInvariants(t, table)
	}
}

// TestSelectorsAreBindings checks that the selector is part of a binding's identity, and that a
// queue gets a message once however many bindings match.
func TestSelectorsAreBindings(t *testing.T) {
	low := Binding{Source: "amq.topic", ToQueue: 1, Key: "#", Args: only("n < 10")}
	even := Binding{Source: "amq.topic", ToQueue: 1, Key: "#", Args: only("n / 2 * 2 = n")}
	table := bind(t, bind(t, New(), low), even)
	numbered := func(n int) Message { return withHeaders(message.Table{{Name: "n", Value: int32(n)}}) }
	requireRoute(t, table, "amq.topic", numbered(8), 1)
	requireRoute(t, table, "amq.topic", numbered(7), 1)
	requireRoute(t, table, "amq.topic", numbered(12), 1)
	requireRoute(t, table, "amq.topic", numbered(13))
	table = unbind(t, table, low)
	requireRoute(t, table, "amq.topic", numbered(7))
	requireRoute(t, table, "amq.topic", numbered(12), 1)
	plain := Binding{Source: "amq.topic", ToQueue: 1, Key: "#"}
	if _, removed := table.Unbind(plain); removed {
		t.Error("a binding without a selector was removed, and there was none")
	}
	table = unbind(t, bind(t, table, plain), even)
	requireRoute(t, table, "amq.topic", numbered(13), 1)
	table, gone := table.RemoveQueue("q", 1)
	if len(gone) != 1 {
		t.Errorf("%d bindings went with the queue, want 1", len(gone))
	}
	if x, _ := table.Exchange("amq.topic"); x.selected != nil || x.matcher != (topic{}) {
		t.Errorf("something is left: %+v", x)
	}
}

// TestSelectorSeesTheMessage checks selectors on properties other than headers, also behind a
// second exchange.
func TestSelectorSeesTheMessage(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "first", Type: TypeFanout, Alternate: "amq.direct"})
	table = bind(t, table, Binding{Source: "first", ToExchange: "amq.fanout", Args: only("routing_key LIKE 'in.%'")})
	table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: 1, Args: only("exchange = 'first' AND priority > 3")})
	table = bind(t, table, Binding{Source: "amq.direct", ToQueue: 2, Key: "out.x"})
	urgent := message.Properties{Flags: message.HasPriority, Priority: 5}
	m := Message{Key: []byte("in.x"), Props: urgent.Append(nil)}
	requireRoute(t, table, "first", m, 1)
	requireRoute(t, table, "amq.fanout", m)
	m.Key = []byte("out.x")
	requireRoute(t, table, "first", m, 2) // no match: the alternate exchange
}

// TestSelectorForbidsCaching checks that ByKey is false if a selector is involved.
func TestSelectorForbidsCaching(t *testing.T) {
	table := bind(t, New(), Binding{Source: "amq.direct", ToQueue: 1, Key: "k"})
	var r Route
	byKey := func() bool {
		if err := table.Route("amq.direct", &Message{Key: []byte("k")}, &r); err != nil {
			t.Fatal(err)
		}
		return r.ByKey
	}
	if !byKey() {
		t.Error("no selector, and the key does not decide")
	}
	table = bind(t, table, Binding{Source: "amq.direct", ToExchange: "amq.fanout", Key: "k"})
	b := Binding{Source: "amq.fanout", ToQueue: 2, Args: only("FALSE")}
	table = bind(t, table, b)
	if byKey() {
		t.Error("the key decides alone in spite of a selector further on")
	}
	table = unbind(t, table, b)
	if !byKey() {
		t.Error("the selector is gone, and the key still does not decide")
	}
}

// TestSelectorPartitions checks that, in exchanges that divide messages, bindings with the same
// selector divide the messages that it matches, separately from the others.
func TestSelectorPartitions(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "x", Type: TypeHash})
	for id := range QueueID(6) {
		b := Binding{Source: "x", ToQueue: id + 1, Key: "1"}
		if id >= 3 {
			b.Args = only("audit")
		}
		table = bind(t, table, b)
	}
	for i := range 100 {
		m := withHeaders(message.Table{{Name: "audit", Value: i%2 == 0}})
		m.Key = fmt.Append(nil, "key", i)
		got := routed(t, table, "x", m)
		audited := slices.DeleteFunc(slices.Clone(got), func(id QueueID) bool { return id <= 3 })
		if len(got)-len(audited) != 1 || len(audited) != 1-i%2 {
			t.Fatalf("message %d went to %v", i, got)
		}
	}
}

func TestBadSelector(t *testing.T) {
	table := bind(t, New(), Binding{Source: "amq.fanout", ToQueue: 1, Args: only("a = 1")})
	for _, c := range []struct {
		arg  any
		text string
	}{
		{"a = ", "selector: at 5: expected a value, got the end"},
		{"", "selector: at 1: expected a value, got the end"},
		{int32(1), "expected longstr, got signedint"},
		{nil, "expected longstr, got void"},
	} {
		b := Binding{Source: "amq.fanout", ToQueue: 2, Args: message.Table{{Name: "x-selector", Value: c.arg}}}
		next, added, err := table.Bind(b)
		var e *Error
		if next != table || added || !errors.As(err, &e) || e.Kind != ErrInvalidBinding || e.Text != "invalid arg 'x-selector' for binding: "+c.text {
			t.Errorf("%v: added %v, %v", c.arg, added, err)
		}
	}
}

// TestSelectorsAreShared checks that a selector is evaluated once, however many bindings have it.
func TestSelectorsAreShared(t *testing.T) {
	table := New()
	for _, id := range ids(1, 100) {
		table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: id, Args: only("a = 1")})
	}
	if x, _ := table.Exchange("amq.fanout"); len(x.selected) != 1 || x.selected[0].bindings != 100 || x.BindingCount() != 100 {
		t.Errorf("%d groups", len(x.selected))
	}
}
