package broker

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkManyConsumers measures a queue some of whose consumers acknowledge what they get, while
// the others hold all that their limit allows.
func BenchmarkManyConsumers(b *testing.B) {
	for _, n := range []struct{ working, full int }{{1, 0}, {1000, 0}, {10, 990}} {
		b.Run(fmt.Sprintf("working=%d,full=%d", n.working, n.full), func(b *testing.B) {
			br, err := Open(vfs.OS{}, b.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err != nil {
				b.Fatal(err)
			}
			defer br.Close()
			sink := &collecting{}
			sink.cond = sync.NewCond(&sink.mu)
			pub, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/"})
			sub, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/", Sink: sink})
			idle, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/", Sink: &counting{want: -1}})
			if _, err := pub.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: DefaultQueuePolicy()}); err != nil {
				b.Fatal(err)
			}
			props := (&message.Properties{}).Append(nil)
			peek, _ := message.PeekProperties(props)
			publish := func(count int) {
				for i := 0; i < count; {
					for range min(64, count-i) {
						t, _ := pub.Route(nil, []byte("q"), &peek, nil)
						env := append(message.AppendEnvelopeHeader(make([]byte, 0, 200), "", "q", props), make([]byte, 100)...)
						i++
						pub.Publish(&shard.Publish{Targets: t, Env: env, TTL: -1})
					}
					pub.Flush()
				}
			}
			for range n.full {
				if _, err := idle.Consume(shard.ConsumerSpec{Queue: "q", Prefetch: 1}); err != nil {
					b.Fatal(err)
				}
			}
			publish(n.full)
			for range n.working {
				if _, err := sub.Consume(shard.ConsumerSpec{Queue: "q", Prefetch: 10}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			go publish(b.N)
			sink.acknowledge(sub, b.N)
		})
	}
}

// acknowledge acknowledges n deliveries, in rounds of those collected so far.
func (c *collecting) acknowledge(s *Session, n int) {
	var got []shard.Delivery
	for ; n > 0; n -= len(got) {
		c.mu.Lock()
		for len(c.got) == 0 {
			c.cond.Wait()
		}
		got, c.got = c.got, got[:0]
		c.mu.Unlock()
		for _, d := range got {
			s.Ack(d.Queue, d.Consumer, d.Handle, 1)
		}
		s.Flush()
	}
}
