package broker

import (
	"testing"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
)

// The cost of counting for a message on its whole way: routed, taken in, handed out and
// acknowledged, in reads of 64 messages.
func BenchmarkCounting(b *testing.B) {
	v := &VHost{VHost: catalog.VHost{Name: "/"}}
	sh := &shard{b: &Broker{}, now: 1}
	s := &Session{vhost: v}
	q := &Queue{Queue: catalog.Queue{Name: "q"}, vhost: v}
	var exchange routing.Traffic
	const batch = 64
	it := &queue.Item{Size: 100}
	handle := queue.Handle(0)
	for b.Loop() {
		for i := range queue.Handle(batch) {
			s.count(&exchange, 1)
			sh.published(q, handle+i+1, 100, 0)
		}
		s.tellRouted()
		for range batch {
			handle++
			it.Handle = handle
			sh.delivered(q, it, false)
		}
		q.counts.Acked += batch
	}
	b.ReportMetric(float64(b.Elapsed())/float64(handle), "ns/message")
	if q.counts.Published != uint64(handle) || exchange.In.Load() != uint64(handle) {
		b.Fatalf("%+v after %d messages", q.counts, handle)
	}
}
