package routing

import (
	"errors"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

func TestNewHasTheStandardExchanges(t *testing.T) {
	want := map[string]string{
		"": TypeDirect, "amq.direct": TypeDirect, "amq.fanout": TypeFanout, "amq.topic": TypeTopic,
		"amq.headers": TypeHeaders, "amq.match": TypeHeaders, "amq.rabbitmq.trace": TypeTopic,
	}
	for x := range New().Exchanges() {
		if x.Spec.Type != want[x.Spec.Name] || !x.Spec.Durable {
			t.Errorf("%+v: want type %q, durable", x.Spec, want[x.Spec.Name])
		}
		if x.Spec.Internal != (x.Spec.Name == "amq.rabbitmq.trace") {
			t.Errorf("%q: internal is %v", x.Spec.Name, x.Spec.Internal)
		}
		delete(want, x.Spec.Name)
	}
	if len(want) != 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestDefaultExchange(t *testing.T) {
	table := New().AddQueue("a", 1).AddQueue("b", 2)
	requireRoute(t, table, "", keyed("a"), 1)
	requireRoute(t, table, "", keyed("c"))
	requireRoute(t, table, "", Message{Key: []byte("a"), Also: [][]byte{[]byte("b"), []byte("a")}}, 1, 2)

	again := table.AddQueue("a", 3)
	gone, _ := again.RemoveQueue("a", 1)
	requireRoute(t, gone, "", keyed("a"), 3)
	gone, _ = again.RemoveQueue("a", 3)
	requireRoute(t, gone, "", keyed("a"))
	requireRoute(t, table, "", keyed("a"), 1)

	for _, b := range []Binding{{Source: "", ToQueue: 1}, {Source: "amq.direct"}} {
		if _, _, err := table.Bind(b); !errors.Is(err, ErrDefaultExchange) {
			t.Errorf("bind %+v: %v", b, err)
		}
	}
	if _, _, err := table.DeleteExchange(""); !errors.Is(err, ErrDefaultExchange) {
		t.Errorf("delete: %v", err)
	}
}

func TestMissingExchange(t *testing.T) {
	r := Route{Queues: []QueueID{7}}
	err := New().Route("nope", &Message{}, &r)
	var e *Error
	if !errors.Is(err, ErrNoExchange) || !errors.As(err, &e) || e.Exchange != "nope" || len(r.Queues) != 0 {
		t.Fatalf("route: %v, queues %v", err, r.Queues)
	}
	for _, b := range []Binding{{Source: "nope", ToQueue: 1}, {Source: "amq.direct", ToExchange: "nope"}} {
		if _, _, err := New().Bind(b); !errors.Is(err, ErrNoExchange) {
			t.Errorf("bind %+v: %v", b, err)
		}
	}
	if _, _, err := New().DeleteExchange("nope"); !errors.Is(err, ErrNoExchange) {
		t.Errorf("delete: %v", err)
	}
	if _, err := New().SetPolicyAlternate("nope", "amq.fanout"); !errors.Is(err, ErrNoExchange) {
		t.Errorf("policy: %v", err)
	}
}

func TestDeclareAgain(t *testing.T) {
	spec := ExchangeSpec{Name: "x", Type: TypeDirect, Durable: true, Alternate: "ae", Args: message.Table{{Name: "a", Value: "1"}}}
	table := declare(t, New(), spec)
	cases := []struct {
		change func(*ExchangeSpec)
		want   string // argument, received, current; "": equivalent
	}{
		{func(s *ExchangeSpec) {}, ""},
		{func(s *ExchangeSpec) { s.Args = nil }, ""},
		{func(s *ExchangeSpec) { s.Type = TypeFanout }, "type: 'fanout', 'direct'"},
		{func(s *ExchangeSpec) { s.Durable = false }, "durable: 'false', 'true'"},
		{func(s *ExchangeSpec) { s.AutoDelete = true }, "auto_delete: 'true', 'false'"},
		{func(s *ExchangeSpec) { s.Internal = true }, "internal: 'true', 'false'"},
		{func(s *ExchangeSpec) { s.Alternate = "other" }, "alternate-exchange: 'other', 'ae'"},
		{func(s *ExchangeSpec) { s.Alternate = "" }, "alternate-exchange: none, the value 'ae' of type 'longstr'"},
	}
	for _, c := range cases {
		changed := spec
		c.change(&changed)
		next, err := table.DeclareExchange(changed)
		if next != table {
			t.Errorf("%+v: the table changed", changed)
		}
		got := ""
		var e *InequivalentError
		if errors.As(err, &e) {
			got = e.Arg + ": " + e.Received + ", " + e.Current
		}
		if got != c.want || (err != nil) != errors.Is(err, ErrInequivalent) {
			t.Errorf("%+v: got %q (%v), want %q", changed, got, err, c.want)
		}
	}
}

func TestRefusedDeclareAndDelete(t *testing.T) {
	cases := []struct {
		spec ExchangeSpec
		kind error
		text string
	}{
		{ExchangeSpec{Name: "x", Type: "foo"}, ErrUnknownType, "unknown exchange type 'foo'"},
		{ExchangeSpec{Name: "amq.direct", Type: "foo"}, ErrUnknownType, "unknown exchange type 'foo'"},
		{ExchangeSpec{Name: "amq.mine", Type: TypeDirect}, ErrReservedName, ""},
		{ExchangeSpec{Name: "x", Type: TypeHash, Args: message.Table{{Name: "hash-header", Value: "h"}, {Name: "hash-property", Value: "timestamp"}}},
			ErrInvalidArgument, "hash-header and hash-property are mutually exclusive"},
		{ExchangeSpec{Name: "x", Type: TypeHash, Args: message.Table{{Name: "hash-property", Value: "app_id"}}},
			ErrInvalidArgument, "Unsupported property: app_id"},
		{ExchangeSpec{Name: "x", Type: TypeHash, Args: message.Table{{Name: "hash-header", Value: int32(5)}}},
			ErrInvalidArgument, "Unsupported header: 5"},
	}
	for _, c := range cases {
		_, err := New().DeclareExchange(c.spec)
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || e.Text != c.text {
			t.Errorf("%+v: %v", c.spec, err)
		}
	}
	if _, _, err := New().DeleteExchange("amq.topic"); !errors.Is(err, ErrSystemExchange) {
		t.Errorf("delete amq.topic: %v", err)
	}
}

func TestValidTypeAgreesWithDeclare(t *testing.T) {
	for _, name := range []string{"direct", "fanout", "topic", "headers", "x-consistent-hash", "x-modulus-hash", "x-random", "x-local-random", "", "Direct", "x-foo"} {
		_, err := New().DeclareExchange(ExchangeSpec{Name: "x", Type: name})
		if ValidType(name) != (err == nil) {
			t.Errorf("%q: valid %v, declare %v", name, ValidType(name), err)
		}
	}
}

func TestBindingIdentity(t *testing.T) {
	b := Binding{Source: "amq.direct", ToQueue: 1, Key: "k", Args: message.Table{{Name: "a", Value: int32(1)}, {Name: "b", Value: "2"}}}
	table := bind(t, New(), b)
	same := b
	same.Args = message.Table{b.Args[1], b.Args[0]}
	if next, added, err := table.Bind(same); added || err != nil || next != table {
		t.Fatalf("bound again with arguments in another order: added %v, error %v", added, err)
	}
	for _, other := range []Binding{
		{Source: "amq.direct", ToQueue: 2, Key: "k", Args: b.Args},
		{Source: "amq.direct", ToExchange: "amq.fanout", Key: "k", Args: b.Args},
		{Source: "amq.topic", ToQueue: 1, Key: "k", Args: b.Args},
		{Source: "amq.direct", ToQueue: 1, Key: "l", Args: b.Args},
		{Source: "amq.direct", ToQueue: 1, Key: "k"},
		{Source: "amq.direct", ToQueue: 1, Key: "k", Args: message.Table{{Name: "a", Value: int32(2)}, {Name: "b", Value: "2"}}},
	} {
		if _, removed := table.Unbind(other); removed {
			t.Errorf("unbinding %+v removed %+v", other, b)
		}
		table = bind(t, table, other)
	}
	if x, _ := table.Exchange("amq.direct"); x.BindingCount() != 6 {
		t.Errorf("%d bindings, want 6", x.BindingCount())
	}
	if _, removed := table.Unbind(same); !removed {
		t.Errorf("unbind with arguments in another order found nothing")
	}
	checkInvariants(t, table)
}

func TestRemoveQueueTakesItsBindings(t *testing.T) {
	table := New().AddQueue("a", 1).AddQueue("b", 2)
	for _, b := range []Binding{
		{Source: "amq.direct", ToQueue: 1, Key: "k"}, {Source: "amq.direct", ToQueue: 2, Key: "k"},
		{Source: "amq.topic", ToQueue: 1, Key: "#"}, {Source: "amq.fanout", ToQueue: 1}, {Source: "amq.fanout", ToQueue: 1, Key: "again"},
		{Source: "amq.match", ToQueue: 1},
	} {
		table = bind(t, table, b)
	}
	next, removed := table.RemoveQueue("a", 1)
	if len(removed) != 5 {
		t.Errorf("removed %+v, want 5 bindings", removed)
	}
	checkInvariants(t, next)
	requireRoute(t, next, "amq.direct", keyed("k"), 2)
	for _, x := range []string{"amq.topic", "amq.fanout", "amq.match"} {
		requireRoute(t, next, x, keyed("k"))
		requireRoute(t, table, x, keyed("k"), 1)
	}
	if got := slices.Collect(table.BindingsTo(Destination{Queue: 1})); len(got) != 5 {
		t.Errorf("the old table lists %d bindings", len(got))
	}
}

func TestDeleteExchangeTakesBothSides(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "x", Type: TypeFanout})
	for _, b := range []Binding{
		{Source: "amq.direct", ToExchange: "x", Key: "k"}, {Source: "amq.direct", ToQueue: 2, Key: "k"},
		{Source: "x", ToQueue: 1}, {Source: "x", ToExchange: "x"}, {Source: "x", ToExchange: "amq.topic"},
	} {
		table = bind(t, table, b)
	}
	requireRoute(t, table, "amq.direct", keyed("k"), 1, 2)
	next, removed, err := table.DeleteExchange("x")
	if err != nil || len(removed) != 4 {
		t.Fatalf("removed %+v, error %v", removed, err)
	}
	checkInvariants(t, next)
	requireRoute(t, next, "amq.direct", keyed("k"), 2)
	if left := slices.Collect(next.Bindings()); len(left) != 1 {
		t.Errorf("left: %+v", left)
	}
	requireRoute(t, table, "amq.direct", keyed("k"), 1, 2)
}

func TestListings(t *testing.T) {
	table := New().AddQueue("b", 2).AddQueue("a", 1)
	all := []Binding{
		{Source: "amq.direct", ToQueue: 1, Key: "k"}, {Source: "amq.direct", ToQueue: 1, Key: "l"},
		{Source: "amq.direct", ToExchange: "amq.fanout", Key: "k"}, {Source: "amq.topic", ToQueue: 1, Key: "k"},
	}
	for _, b := range all {
		table = bind(t, table, b)
	}
	count := func(want int, got []Binding) {
		t.Helper()
		if len(got) != want {
			t.Errorf("got %+v, want %d", got, want)
		}
	}
	count(4, slices.Collect(table.Bindings()))
	count(3, slices.Collect(table.BindingsFrom("amq.direct")))
	count(0, slices.Collect(table.BindingsFrom("amq.")))
	count(3, slices.Collect(table.BindingsTo(Destination{Queue: 1})))
	count(1, slices.Collect(table.BindingsTo(Destination{Exchange: "amq.fanout"})))
	var names []string
	for name := range table.Queues() {
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("queues: %v", names)
	}
}
