package broker

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/routing"
)

// BenchmarkCountingRoutes measures the counting of what a session routes, in reads of 64 messages.
func BenchmarkCountingRoutes(b *testing.B) {
	s := &Session{vhost: shard.VHostOf(shard.NewSet(shard.Config{Shards: 1}).NewVHost())}
	var exchange routing.Traffic
	const batch = 64
	n := uint64(0)
	for b.Loop() {
		for range batch {
			s.count(&exchange, 1)
		}
		s.tellRouted()
		n += batch
	}
	b.ReportMetric(float64(b.Elapsed())/float64(n), "ns/message")
	if exchange.In.Load() != n {
		b.Fatalf("%d of %d messages", exchange.In.Load(), n)
	}
}
