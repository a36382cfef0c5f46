package amqp

import (
	"fmt"
	"net"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// BenchmarkDeliver encodes deliveries of 100 bytes and settles them.
func BenchmarkDeliver(b *testing.B) {
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprint("batches of ", batch), func(b *testing.B) {
			ours, theirs := net.Pipe()
			defer ours.Close()
			defer theirs.Close()
			c := newConn(&Server{}, theirs, 1)
			c.out.window = new(shard.Window)
			ch := &channel{c: c, id: 1}
			k := &consumer{ch: ch, tag: "c"}
			policy := catalog.DefaultQueuePolicy()
			q := &shard.Queue{Queue: catalog.Queue{Declared: &policy}}
			bc := &shard.Consumer{Queue: q, Data: k}
			env := append(message.AppendEnvelopeHeader(nil, "", "q", []byte{0, 0}), make([]byte, 100)...)
			ds := make([]shard.Delivery, batch)
			for i := range ds {
				ds[i] = shard.Delivery{Consumer: bc, Queue: q, Handle: queue.Handle(i + 1), Env: env}
			}
			b.ReportAllocs()
			for i := 0; i < b.N; i += batch {
				c.Deliver(ds)
				c.out.buf.b = c.out.buf.b[:0]
				if _, ok := ch.take(ch.tag, true); !ok {
					b.Fatal("unknown tag")
				}
			}
		})
	}
}
