package routing

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBindingsBetweenExchanges(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "in", Type: TypeTopic})
	table = declare(t, table, ExchangeSpec{Name: "loop", Type: TypeFanout})
	for _, b := range []Binding{
		{Source: "in", ToExchange: "amq.direct", Key: "a.#"},
		{Source: "in", ToQueue: 1, Key: "#"},
		{Source: "amq.direct", ToQueue: 1, Key: "a.b"},
		{Source: "amq.direct", ToQueue: 2, Key: "a.b"},
		{Source: "amq.direct", ToExchange: "loop", Key: "a.b"},
		{Source: "loop", ToExchange: "in"},
		{Source: "loop", ToExchange: "loop"},
		{Source: "loop", ToQueue: 3},
	} {
		table = bind(t, table, b)
	}
	requireRoute(t, table, "in", keyed("a.b"), 1, 2, 3)
	requireRoute(t, table, "in", keyed("a.c"), 1)
	requireRoute(t, table, "loop", keyed("x"), 1, 3)
	checkInvariants(t, table)
}

func TestAlternateExchange(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "a", Type: TypeDirect, Alternate: "b"})
	table = declare(t, table, ExchangeSpec{Name: "b", Type: TypeDirect, Alternate: "c"})
	table = declare(t, table, ExchangeSpec{Name: "c", Type: TypeFanout, Alternate: "a"})
	table = bind(t, table, Binding{Source: "a", ToQueue: 1, Key: "k"})
	table = bind(t, table, Binding{Source: "b", ToQueue: 2, Key: "l"})
	requireRoute(t, table, "a", keyed("k"), 1)
	requireRoute(t, table, "a", keyed("l"), 2)
	requireRoute(t, table, "a", keyed("m")) // once round the loop
	table = bind(t, table, Binding{Source: "c", ToQueue: 3})
	requireRoute(t, table, "a", keyed("m"), 3)

	// A match that leads to an exchange is a match, even if that exchange routes to no queue. Each
	// exchange has its own alternate.
	table = bind(t, table, Binding{Source: "a", ToExchange: "amq.direct", Key: "n"})
	requireRoute(t, table, "a", keyed("n"))
	table = bind(t, table, Binding{Source: "amq.fanout", ToExchange: "a"})
	table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: 4})
	requireRoute(t, table, "amq.fanout", keyed("l"), 2, 4)

	gone, _, err := table.DeleteExchange("c")
	if err != nil {
		t.Fatal(err)
	}
	requireRoute(t, gone, "a", keyed("m")) // a missing alternate drops the message
}

func TestPolicyAlternate(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "own", Type: TypeDirect, Alternate: "amq.topic"})
	table = declare(t, table, ExchangeSpec{Name: "bare", Type: TypeDirect})
	table = bind(t, table, Binding{Source: "amq.topic", ToQueue: 1, Key: "#"})
	table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: 2})
	set := func(name, alternate, want string) {
		t.Helper()
		next, err := table.SetPolicyAlternate(name, alternate)
		if err != nil {
			t.Fatal(err)
		}
		table = next
		if x, _ := table.Exchange(name); x.Alternate() != want {
			t.Errorf("%q: alternate %q, want %q", name, x.Alternate(), want)
		}
	}
	set("own", "amq.fanout", "amq.topic")
	set("bare", "amq.fanout", "amq.fanout")
	requireRoute(t, table, "own", keyed("k"), 1)
	requireRoute(t, table, "bare", keyed("k"), 2)
	if _, err := table.DeclareExchange(ExchangeSpec{Name: "bare", Type: TypeDirect}); err != nil {
		t.Errorf("a policy counted as an argument: %v", err)
	}
	set("bare", "", "")
	requireRoute(t, table, "bare", keyed("k"))
}

// TestWideGraph uses the hashed half of the scratch sets, with results of many queues and
// exchanges.
func TestWideGraph(t *testing.T) {
	table := New()
	var want []QueueID
	for i := range 100 {
		name := "x" + strconv.Itoa(i)
		table = declare(t, table, ExchangeSpec{Name: name, Type: TypeFanout})
		table = bind(t, table, Binding{Source: "amq.fanout", ToExchange: name})
		for j := range 3 {
			id := QueueID(2*i + j + 1) // each shares a queue with the next
			table = bind(t, table, Binding{Source: name, ToQueue: id})
			want = append(want, id)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	requireRoute(t, table, "amq.fanout", keyed(""), want...)

	var r Route // reused for a smaller and then the same message: nothing must be left over
	for _, step := range []struct {
		exchange string
		want     int
	}{{"amq.fanout", len(want)}, {"x1", 3}, {"amq.fanout", len(want)}, {"amq.direct", 0}} {
		m := keyed("")
		if err := table.Route(step.exchange, &m, &r); err != nil || len(r.Queues) != step.want {
			t.Fatalf("%q: %d queues, want %d (%v)", step.exchange, len(r.Queues), step.want, err)
		}
	}
}

func TestOldTablesAnswerAsBefore(t *testing.T) {
	table := New()
	var history []*Table
	for _, id := range ids(1, 200) {
		history = append(history, table)
		table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: id})
		table = bind(t, table, Binding{Source: "amq.topic", ToQueue: id, Key: "a.*." + strconv.Itoa(int(id%7))})
		table = bind(t, table, Binding{Source: "amq.direct", ToQueue: id, Key: "k"})
		table = bind(t, table, Binding{Source: "amq.match", ToQueue: id})
	}
	// Two tables derived from one ancestor: the second must not overwrite what the first has
	// appended.
	base := history[100]
	left := bind(t, base, Binding{Source: "amq.fanout", ToQueue: 1001})
	right := bind(t, base, Binding{Source: "amq.fanout", ToQueue: 1002})
	requireRoute(t, left, "amq.fanout", Message{}, append(ids(1, 100), 1001)...)
	requireRoute(t, right, "amq.fanout", Message{}, append(ids(1, 100), 1002)...)

	for _, id := range ids(1, 200) {
		table, _ = table.RemoveQueue(queueName(id), id)
	}
	for n, old := range history {
		all := ids(1, n)
		requireRoute(t, old, "amq.fanout", Message{}, all...)
		requireRoute(t, old, "amq.direct", keyed("k"), all...)
		requireRoute(t, old, "amq.match", Message{}, all...)
		var third []QueueID
		for _, id := range all {
			if id%7 == 3 {
				third = append(third, id)
			}
		}
		requireRoute(t, old, "amq.topic", keyed("a.b.3"), third...)
	}
	checkInvariants(t, table)
}

// TestRouteWhileChanging checks that readers see whole tables while one goroutine changes them:
// always a prefix of the queues 1..n, which are bound and unbound in order. The race detector
// checks the rest.
func TestRouteWhileChanging(t *testing.T) {
	var current atomic.Pointer[Table]
	current.Store(New())
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var r Route
			m := keyed("k")
			for !stop.Load() {
				table := current.Load()
				for _, exchange := range []string{"amq.fanout", "amq.direct", "amq.topic"} {
					if err := table.Route(exchange, &m, &r); err != nil || !slices.Equal(r.Queues, ids(1, len(r.Queues))) {
						t.Errorf("%s: queues %v, error %v", exchange, r.Queues, err)
						return
					}
				}
			}
		})
	}
	table := New()
	for _, id := range ids(1, 300) {
		for _, exchange := range []string{"amq.fanout", "amq.direct", "amq.topic"} {
			table = bind(t, table, Binding{Source: exchange, ToQueue: id, Key: "k"})
			current.Store(table)
		}
	}
	for id := QueueID(300); id > 0; id-- {
		table, _ = table.RemoveQueue(queueName(id), id)
		current.Store(table)
	}
	stop.Store(true)
	readers.Wait()
}
