package shard

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/queue"
)

// BenchmarkCounting measures the counting for a message: accepted, delivered and acknowledged, in
// reads of 64 messages.
func BenchmarkCounting(b *testing.B) {
	v := &VHost{VHost: catalog.VHost{Name: "/"}}
	sh := &Shard{set: &Set{}, now: 1}
	q := &Queue{Queue: catalog.Queue{Name: "q"}, vhost: v}
	const batch = 64
	it := &queue.Item{Size: 100}
	handle := queue.Handle(0)
	for b.Loop() {
		for i := range queue.Handle(batch) {
			sh.published(q, handle+i+1, 100, 0)
		}
		for range batch {
			handle++
			it.Handle = handle
			sh.handedOut(q, it, true, false)
		}
		q.counts.Acked += batch
	}
	b.ReportMetric(float64(b.Elapsed())/float64(handle), "ns/message")
	if q.counts.Published != uint64(handle) {
		b.Fatalf("%+v after %d messages", q.counts, handle)
	}
}
