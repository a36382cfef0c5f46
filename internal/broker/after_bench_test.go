package broker

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// orderCases are a queue without an order, and queues with an order whose messages have no ids,
// have ids, or wait (every second one, for the message before it).
var orderCases = []struct {
	name              string
	order, ids, waits bool
}{{name: "plain"}, {"plain with ids", false, true, false}, {"no ids", true, false, false}, {"ids", true, true, false}, {"waiting", true, true, true}}

func orderBroker(b *testing.B, dir string) *Broker {
	br, err := Open(vfs.OS{}, dir, Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	return br
}

func fillOrder(b *testing.B, s *Session, ids, waits bool, from, n int) {
	body := make([]byte, 100)
	for i := from; i < from+n; i++ {
		p := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}
		if ids {
			p.Flags |= message.HasMessageID
			p.MessageID = fmt.Sprint("orders.", i)
		}
		if waits && i%2 == 1 {
			p.Flags |= message.HasHeaders
			p.Headers = message.Table{{Name: "consume_after", Value: fmt.Sprint("orders.", i-1)}}
		}
		raw := p.Append(nil)
		peek, _ := message.PeekProperties(raw)
		t, err := s.Route(nil, []byte("q"), &peek, nil)
		if err != nil {
			b.Fatal(err)
		}
		env := append(message.AppendEnvelopeHeader(make([]byte, 0, 200), []byte(""), []byte("q"), raw), body...)
		s.Publish(&shard.Publish{Targets: t, Env: env, Persistent: true, TTL: -1})
		if i%64 == 63 {
			s.Flush()
		}
	}
	s.Flush()
}

// BenchmarkOrder measures publishing, getting and acknowledging a message, in batches of 64.
func BenchmarkOrder(b *testing.B) {
	for _, row := range orderCases {
		b.Run(row.name, func(b *testing.B) {
			br := orderBroker(b, b.TempDir())
			defer br.Close()
			s, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/"})
			policy := DefaultQueuePolicy()
			policy.ConsumeAfter = row.order
			if _, err := s.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: policy}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += 64 {
				fillOrder(b, s, row.ids, row.waits, n, 64)
				for left := 64; left > 0; {
					d, _, ok, err := s.Get("q", false)
					if err != nil || !ok {
						b.Fatal(err, left)
					}
					s.Ack(d.Queue, nil, d.Handle, 1)
					left--
				}
			}
		})
	}
}

// BenchmarkOrderRecall measures a queue with a million messages: the heap per message, and the time
// of a start.
func BenchmarkOrderRecall(b *testing.B) {
	const n = 1_000_000
	for _, row := range orderCases {
		b.Run(row.name, func(b *testing.B) {
			for range b.N {
				dir := b.TempDir()
				br := orderBroker(b, dir)
				s, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/"})
				policy := DefaultQueuePolicy()
				policy.ConsumeAfter = row.order
				if _, err := s.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: policy}); err != nil {
					b.Fatal(err)
				}
				filling := time.Now()
				fillOrder(b, s, row.ids, row.waits, 0, n)
				if _, err := s.DeclareQueue(QueueSpec{Name: "q", Passive: true}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(filling).Seconds(), "fill-s")
				if err := br.Close(); err != nil {
					b.Fatal(err)
				}
				before := heapBytes()
				start := time.Now()
				br = orderBroker(b, dir)
				b.ReportMetric(time.Since(start).Seconds(), "start-s")
				b.ReportMetric(float64(heapBytes()-before)/n, "B/message")
				br.Close()
			}
		})
	}
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
