package monitor

import (
	"fmt"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkSample measures one sample. The shards pause, in steps, for the part of it that the
// engine takes.
func BenchmarkSample(b *testing.B) {
	for _, queues := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%d queues", queues), func(b *testing.B) {
			br, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1})
			if err != nil {
				b.Fatal(err)
			}
			s, err := br.Operate("/")
			if err != nil {
				b.Fatal(err)
			}
			for i := range queues {
				name := fmt.Sprint("q", i)
				if _, err := s.DeclareQueue(catalog.QueueSpec{Name: name, Policy: catalog.DefaultQueuePolicy()}); err != nil {
					b.Fatal(err)
				}
				if err := s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: name}, Bodies: [][]byte{[]byte("m")}}); err != nil {
					b.Fatal(err)
				}
			}
			m := New(br, Options{})
			m.Sample()
			b.ReportAllocs()
			for b.Loop() {
				m.Sample()
			}
			b.StopTimer()
			s.Close()
			if err := br.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
