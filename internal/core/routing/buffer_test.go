package routing

import (
	"errors"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// buffers returns a table in which exchange a holds messages and b copies them. Both route to
// queues, and a also to b. The buffers are queues 100 and 200.
func buffers(t *testing.T) *Table {
	table := New()
	table = declare(t, table, ExchangeSpec{Name: "a", Type: TypeFanout})
	table = declare(t, table, ExchangeSpec{Name: "b", Type: TypeFanout, Alternate: "amq.fanout"})
	table = bind(t, table, Binding{Source: "a", ToQueue: 1})
	table = bind(t, table, Binding{Source: "a", ToExchange: "b"})
	table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: 9})
	for name, buffer := range map[string]Buffer{"a": {Queue: 100}, "b": {Queue: 200, Copy: true}} {
		var err error
		if table, err = table.SetBuffer(name, buffer); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func TestBuffers(t *testing.T) {
	table := buffers(t)
	bound := bind(t, table, Binding{Source: "b", ToQueue: 2})
	for _, k := range []struct {
		what  string
		table *Table
		from  string
		past  Past
		want  []QueueID
	}{
		{"a message stops where it is held", bound, "a", PastNone, []QueueID{100}},
		{"it comes out there, and is copied on its way", bound, "a", PastFirst, []QueueID{1, 2, 200}},
		{"where it goes in the end", bound, "a", PastAll, []QueueID{1, 2}},
		{"a copy is no reason to leave out the alternate exchange", table, "b", PastNone, []QueueID{9, 200}},
		{"nor is none", table, "b", PastAll, []QueueID{9}},
	} {
		var r Route
		if err := k.table.Route(k.from, &Message{Past: k.past}, &r); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(slices.Values(r.Queues)); !slices.Equal(got, k.want) {
			t.Errorf("%s: %v, want %v", k.what, got, k.want)
		}
	}
	if _, err := table.SetBuffer("none", Buffer{Queue: 1}); !errors.Is(err, ErrNoExchange) {
		t.Errorf("a buffer of nothing: %v", err)
	}
}

func TestDelayedTypeAndHistoryLength(t *testing.T) {
	table := New()
	for _, k := range []struct {
		kind, arg string
		value     any
		want      string // of the refusal, "" if accepted
	}{
		{TypeDelayed, "x-delayed-type", "topic", ""},
		{TypeDelayed, "x-delayed-type", TypeHash, ""},
		{TypeDelayed, "other", "topic", "Invalid argument, 'x-delayed-type' must be an existing exchange type"},
		{TypeDelayed, "x-delayed-type", int32(1), "Invalid argument, 'x-delayed-type' must be an existing exchange type"},
		{TypeDelayed, "x-delayed-type", "nonsense", "unknown exchange type 'nonsense'"},
		{TypeDelayed, "x-delayed-type", TypeDelayed, "unknown exchange type 'x-delayed-message'"},
		{TypeHistory, "x-recent-history-length", int64(5), ""},
		{TypeHistory, "x-recent-history-length", "5", `Invalid argument <<"5">>, 'x-recent-history-length' must be a positive integer`},
		{TypeHistory, "x-recent-history-length", nil, "Invalid argument undefined, 'x-recent-history-length' must be a positive integer"},
	} {
		_, err := table.DeclareExchange(ExchangeSpec{Name: "x", Type: k.kind, Args: message.Table{{Name: k.arg, Value: k.value}}})
		var refused *Error
		if k.want == "" && err != nil || k.want != "" && (!errors.As(err, &refused) || refused.Text != k.want) {
			t.Errorf("%s with %s %v: %v", k.kind, k.arg, k.value, err)
		}
	}
}
