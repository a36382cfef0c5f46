package routing

import (
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// New returns a table without conditions.
func New() *Table { return NewWith(nil) }

// declare adds an exchange, which must succeed.
func declare(t testing.TB, table *Table, spec ExchangeSpec) *Table {
	t.Helper()
	next, err := table.DeclareExchange(spec)
	if err != nil {
		t.Fatalf("declare %q: %v", spec.Name, err)
	}
	return next
}

// bind adds a binding that must be new.
func bind(t testing.TB, table *Table, b Binding) *Table {
	t.Helper()
	next, added, err := table.Bind(b)
	if err != nil || !added {
		t.Fatalf("bind %+v: added %v, error %v", b, added, err)
	}
	return next
}

func unbind(t testing.TB, table *Table, b Binding) *Table {
	t.Helper()
	next, removed := table.Unbind(b)
	if !removed {
		t.Fatalf("unbind %+v: not found", b)
	}
	return next
}

// routed returns a sorted copy of the queues of a message; a queue given twice is an error.
func routed(t testing.TB, table *Table, exchange string, m Message) []QueueID {
	t.Helper()
	var r Route
	if err := table.Route(exchange, &m, &r); err != nil {
		t.Fatalf("route to %q: %v", exchange, err)
	}
	got := slices.Clone(r.Queues)
	slices.Sort(got)
	if len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Fatalf("route to %q: a queue came twice: %v", exchange, got)
	}
	return got
}

func requireRoute(t testing.TB, table *Table, exchange string, m Message, want ...QueueID) {
	t.Helper()
	if got := routed(t, table, exchange, m); !slices.Equal(got, want) {
		t.Fatalf("route %q to %q: got %v, want %v", m.Key, exchange, got, want)
	}
}

func keyed(key string) Message { return Message{Key: []byte(key)} }

func withHeaders(table message.Table) Message {
	p := message.Properties{Flags: message.HasHeaders, Headers: table}
	return Message{Headers: message.AppendTable(nil, table)[4:], Props: p.Append(nil)}
}

// checkInvariants checks the invariants of the package comment.
func checkInvariants(t testing.TB, table *Table) {
	t.Helper()
	counts, selecting := map[string]int{}, map[string]int{}
	for b := range table.Bindings() {
		counts[b.Source]++
		if slices.ContainsFunc(conditionArgs, func(arg string) bool { _, ok := b.Args.Get(arg); return ok }) {
			selecting[b.Source]++
		}
		if _, ok := table.byDest.Get(b.destKey()); !ok {
			t.Fatalf("%+v is not in the index by destination", b)
		}
		if _, ok := table.Exchange(b.ToExchange); b.ToExchange != "" && !ok {
			t.Fatalf("%+v leads nowhere", b)
		}
	}
	if table.bySource.Len() != table.byDest.Len() {
		t.Fatalf("%d bindings by source, %d by destination", table.bySource.Len(), table.byDest.Len())
	}
	for x := range table.Exchanges() {
		if x.BindingCount() != counts[x.Spec.Name] {
			t.Fatalf("exchange %q counts %d bindings and has %d", x.Spec.Name, x.BindingCount(), counts[x.Spec.Name])
		}
		delete(counts, x.Spec.Name)
		texts := map[string]bool{}
		for _, s := range x.selected {
			selecting[x.Spec.Name] -= s.bindings
			if s.bindings < 1 || texts[s.by.key] {
				t.Fatalf("exchange %q has condition %q with %d bindings, or twice", x.Spec.Name, s.by.key, s.bindings)
			}
			texts[s.by.key] = true
		}
		if n := selecting[x.Spec.Name]; n != 0 || x.selected != nil && len(x.selected) == 0 {
			t.Fatalf("exchange %q: %d bindings with conditions are not in a matcher", x.Spec.Name, n)
		}
	}
	if len(counts) != 0 {
		t.Fatalf("bindings from missing exchanges: %v", counts)
	}
}

func ids(from, to int) []QueueID {
	var all []QueueID
	for i := from; i <= to; i++ {
		all = append(all, QueueID(i))
	}
	return all
}

func queueName(id QueueID) string { return fmt.Sprintf("q%d", id) }
