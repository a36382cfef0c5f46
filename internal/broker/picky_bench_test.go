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

// collecting is a sink that passes its deliveries to another goroutine.
type collecting struct {
	mu   sync.Mutex
	cond *sync.Cond
	got  []shard.Delivery
}

func (c *collecting) Deliver(ds []shard.Delivery) {
	c.mu.Lock()
	c.got = append(c.got, ds...)
	c.cond.Signal()
	c.mu.Unlock()
}
func (c *collecting) Cancelled(*shard.Consumer) {}

// BenchmarkGroups measures a queue with a thousand keys and four consumers that acknowledge each
// message, and the same without groups.
func BenchmarkGroups(b *testing.B) {
	for _, header := range []string{"key", ""} {
		b.Run("header="+header, func(b *testing.B) {
			br, err := Open(vfs.OS{}, b.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err != nil {
				b.Fatal(err)
			}
			defer br.Close()
			sink := &collecting{}
			sink.cond = sync.NewCond(&sink.mu)
			pub, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/"})
			sub, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/", Sink: sink})
			policy := DefaultQueuePolicy()
			policy.GroupHeader = header
			if _, err := pub.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: policy}); err != nil {
				b.Fatal(err)
			}
			for range 4 {
				if _, err := sub.Consume(shard.ConsumerSpec{Queue: "q", Prefetch: 100}); err != nil {
					b.Fatal(err)
				}
			}
			var props [][]byte
			for i := range 1000 {
				p := withHeaders("key", fmt.Sprint("customer-", i))
				props = append(props, p.Append(nil))
			}
			body := make([]byte, 100)
			b.ReportAllocs()
			b.ResetTimer()
			go func() {
				for i := 0; i < b.N; {
					for range min(64, b.N-i) {
						raw := props[i*7919%1000]
						peek, _ := message.PeekProperties(raw)
						t, _ := pub.Route(nil, []byte("q"), &peek, nil)
						env := append(message.AppendEnvelopeHeader(make([]byte, 0, 200), []byte(""), []byte("q"), raw), body...)
						i++
						pub.Publish(&shard.Publish{Targets: t, Env: env, Persistent: true, TTL: -1})
					}
					pub.Flush()
				}
			}()
			sink.acknowledge(sub, b.N)
		})
	}
}
