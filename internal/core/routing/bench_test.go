package routing

import (
	"fmt"
	"runtime"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// wideTopic binds n patterns of the form device.<n>.temp to 1000 queues.
func wideTopic(tb testing.TB, n int) *Table {
	table := New()
	for i := range n {
		table = bind(tb, table, Binding{Source: "amq.topic", ToQueue: QueueID(i%1000 + 1), Key: deviceKey(i)})
	}
	return table
}

func deviceKey(i int) string { return fmt.Sprintf("device.%06d.temp", i) }

func BenchmarkBindTopic100k(b *testing.B) {
	const bindings = 100_000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		table := wideTopic(b, bindings)
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(table)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/bindings, "ns/bind")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/bindings, "B/binding")
}

func BenchmarkUnbindTopic100k(b *testing.B) {
	table := wideTopic(b, 100_000)
	i := 0
	for b.Loop() {
		table.Unbind(Binding{Source: "amq.topic", ToQueue: QueueID(i%1000 + 1), Key: deviceKey(i)})
		i = (i + 7919) % 100_000
	}
}

func benchRoute(b *testing.B, table *Table, exchange string, key func(i int) string) {
	var keys [1024][]byte
	for i := range keys {
		keys[i] = []byte(key(i * 97))
	}
	var r Route
	var m Message
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		m.Key = keys[i%len(keys)]
		i++
		if err := table.Route(exchange, &m, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRouteTopic100k(b *testing.B) {
	table := wideTopic(b, 100_000)
	for _, pattern := range []string{"device.#", "*.*.temp", "#.temp"} {
		table = bind(b, table, Binding{Source: "amq.topic", ToQueue: 2000, Key: pattern})
	}
	benchRoute(b, table, "amq.topic", deviceKey)
}

func BenchmarkRouteDirect100k(b *testing.B) {
	table := New()
	for i := range 100_000 {
		table = bind(b, table, Binding{Source: "amq.direct", ToQueue: 1, Key: deviceKey(i)})
	}
	benchRoute(b, table, "amq.direct", deviceKey)
}

func BenchmarkRouteDefault100k(b *testing.B) {
	table := New()
	for i := range 100_000 {
		table = table.AddQueue(deviceKey(i), QueueID(i+1))
	}
	benchRoute(b, table, "", deviceKey)
}

func fanoutOf(tb testing.TB, n int) *Table {
	table := New()
	for _, id := range ids(1, n) {
		table = bind(tb, table, Binding{Source: "amq.fanout", ToQueue: id})
	}
	return table
}

func BenchmarkRouteFanout(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchRoute(b, fanoutOf(b, n), "amq.fanout", deviceKey) })
	}
}

func BenchmarkBindFanout10k(b *testing.B) {
	for b.Loop() {
		fanoutOf(b, 10_000)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/bind")
}

func BenchmarkRouteHeaders100(b *testing.B) {
	table := New()
	for _, id := range ids(1, 100) {
		table = bind(b, table, Binding{Source: "amq.match", ToQueue: id, Args: message.Table{
			{Name: "kind", Value: fmt.Sprint("k", id)}, {Name: "size", Value: int32(id)}}})
	}
	m := withHeaders(message.Table{{Name: "kind", Value: "k7"}, {Name: "size", Value: int64(7)}})
	var r Route
	b.ReportAllocs()
	for b.Loop() {
		if err := table.Route("amq.match", &m, &r); err != nil || len(r.Queues) != 1 {
			b.Fatal(r.Queues, err)
		}
	}
}

// BenchmarkRouteSelectors has a fanout to n queues, each with its own selector, of which one
// matches.
func BenchmarkRouteSelectors(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			table := New()
			for _, id := range ids(1, n) {
				table = bind(b, table, Binding{Source: "amq.fanout", ToQueue: id, Args: only(fmt.Sprintf("kind = 'k%d' AND size > 5", id))})
			}
			m := withHeaders(message.Table{{Name: "kind", Value: "k1"}, {Name: "size", Value: int64(7)}})
			var r Route
			b.ReportAllocs()
			for b.Loop() {
				if err := table.Route("amq.fanout", &m, &r); err != nil || len(r.Queues) != 1 {
					b.Fatal(r.Queues, err)
				}
			}
		})
	}
}

func TestRoutingDoesNotAllocate(t *testing.T) {
	table := wideTopic(t, 1000).AddQueue("q", 1)
	table = bind(t, table, Binding{Source: "amq.topic", ToQueue: 2000, Key: "#.temp"})
	table = bind(t, table, Binding{Source: "amq.direct", ToQueue: 1, Key: "q"})
	table = bind(t, table, Binding{Source: "amq.direct", ToExchange: "amq.fanout", Key: "q"})
	for _, id := range ids(1, 50) {
		table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: id})
	}
	table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: 51, Args: only("routing_key <> 'x' AND missing IS NULL")})
	var r Route
	m := &Message{}
	for exchange, key := range map[string]string{"": "q", "amq.direct": "q", "amq.fanout": "", "amq.topic": deviceKey(5)} {
		m.Key = []byte(key)
		name := []byte(exchange)
		allocs := testing.AllocsPerRun(100, func() {
			if err := table.Route(string(name), m, &r); err != nil || len(r.Queues) == 0 { // as a protocol would: a view of its buffer
				t.Errorf("%q: queues %v, error %v", exchange, r.Queues, err)
			}
		})
		if allocs != 0 {
			t.Errorf("exchange %q: %v allocations per message", exchange, allocs)
		}
	}
}
