package broker

import (
	"fmt"
	"io"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkEmit measures groups of a piggybacked entry and messages of the server to a topic
// exchange with this many bound queues, each with its own key.
func BenchmarkEmit(b *testing.B) {
	for _, emits := range []int{1, 300} {
		for queues := range 3 {
			b.Run(fmt.Sprintf("emits=%d/queues=%d", emits, queues), func(b *testing.B) { benchmarkEmit(b, emits, queues) })
		}
	}
}

func benchmarkEmit(b *testing.B, emits, queues int) {
	o := Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Sync: store.SyncOS, Shards: 2}
	o.StateMachines = map[uint32]statemachine.Machine{statemachine.Semaphores: &nothing{}}
	br, err := Open(vfs.OS{}, b.TempDir(), o)
	if err != nil {
		b.Fatal(err)
	}
	defer br.Close()
	s, err := br.Operate("/")
	if err == nil {
		err = s.DeclareExchange(ExchangeSpec{Name: "events", Type: "topic", Durable: true})
	}
	for i := range queues {
		name := fmt.Sprint("q", i)
		p := DefaultQueuePolicy()
		p.MaxLength = 10_000
		if err == nil {
			_, err = s.DeclareQueue(QueueSpec{Name: name, Durable: true, Policy: p})
		}
		if err == nil {
			err = s.Bind(BindSpec{Source: "events", Destination: name, Key: "#"})
		}
	}
	props := message.Properties{Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: "key", Value: "crowd"}}}
	raw := props.Append(nil)
	body := make([]byte, 100)
	entry := make([]byte, 60*emits)
	n := 0
	for b.Loop() {
		commands := []Command{&PiggybackedEntry{Machine: statemachine.Semaphores, Entry: entry}}
		for range emits {
			n++
			env := message.AppendEnvelopeHeader(nil, "events", fmt.Sprint("key", n, ".Acquired"), raw)
			commands = append(commands, &ServerPublish{VHost: VHostID{Name: "/"}, Env: append(env, body...)})
		}
		if err == nil {
			err = s.DoAll(commands...)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*emits), "ns/emit")
}
