package loans

import (
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkFetch measures fetching and releasing a message.
func BenchmarkFetch(b *testing.B) {
	br, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1, Shards: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer br.Close()
	s, err := br.NewSession(broker.SessionOptions{User: "guest", VHost: "/"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		b.Fatal(err)
	}
	targets, err := s.Route(nil, []byte("q"), &message.Peek{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	env := message.AppendEnvelopeHeader(nil, "", "q", (&message.Properties{}).Append(nil))
	s.Publish(&shard.Publish{Targets: targets, Env: env, TTL: -1})
	b.ReportAllocs()
	for b.Loop() {
		got, err := Fetch(s, "q", 1, nil)
		if err != nil || len(got) != 1 {
			b.Fatal(len(got), err)
		}
		s.Release(got[0].Queue, got[0].Handle, 1)
	}
	s.Close()
}
