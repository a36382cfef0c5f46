package broker

import (
	"io"
	"log/slog"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// counting is a sink that only counts.
type counting struct {
	got  atomic.Int64
	done chan struct{}
	want int64
	acks atomic.Int64
}

func (c *counting) Deliver(ds []shard.Delivery) {
	if c.got.Add(int64(len(ds))) == c.want {
		close(c.done)
	}
}
func (c *counting) Cancelled(*shard.Consumer) {}
func (c *counting) Confirmed(from, to uint64, ok bool) {
	if c.acks.Add(int64(to-from+1)) == c.want {
		close(c.done)
	}
}

// BenchmarkEngine measures the engine alone: from one publisher's goroutine to one consumer's sink,
// in batches of 64 messages of 100 bytes.
func BenchmarkEngine(b *testing.B) {
	for _, k := range []struct {
		name    string
		durable bool
		consume bool
	}{{"transient to consumer", false, true}, {"persistent to consumer", true, true}, {"persistent confirmed, no consumer", true, false}} {
		b.Run(k.name, func(b *testing.B) {
			br, err := Open(vfs.OS{}, b.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err != nil {
				b.Fatal(err)
			}
			defer br.Close()
			sink := &counting{done: make(chan struct{}), want: int64(b.N)}
			s, _ := br.NewSession(SessionOptions{User: "guest", VHost: "/", Sink: sink})
			if _, err := s.DeclareQueue(QueueSpec{Name: "q", Durable: k.durable, Policy: DefaultQueuePolicy()}); err != nil {
				b.Fatal(err)
			}
			if k.consume {
				if _, err := s.Consume(shard.ConsumerSpec{Queue: "q", NoAck: true}); err != nil {
					b.Fatal(err)
				}
			}
			props := (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}).Append(nil)
			peek, _ := message.PeekProperties(props)
			body := make([]byte, 100)
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; {
				arena := make([]byte, 0, 64*150)
				for range min(64, b.N-i) {
					at := len(arena)
					t, _ := s.Route(nil, []byte("q"), &peek, nil)
					arena = append(message.AppendEnvelopeHeader(arena, "", "q", props), body...)
					i++
					p := shard.Publish{Targets: t, Env: arena[at:len(arena):len(arena)], Persistent: k.durable, TTL: -1, Seq: uint64(i)}
					if !k.consume {
						p.Confirm = sink
					}
					s.Publish(&p)
				}
				s.Flush()
			}
			<-sink.done
		})
	}
}
