package streams

import (
	"io"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkStream adds entries, 64 with one wait, and gives them to a group, with acknowledgements.
func BenchmarkStream(b *testing.B) {
	engine, err := broker.Open(vfs.OS{}, b.TempDir(), broker.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), DiskFreeLimit: -1, Shards: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	s, err := engine.Operate("/")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const batch = 64
	adds := make([]broker.Command, batch)
	for i := range adds {
		adds[i] = &Add{OnStream: onStream("s"), Create: true, Properties: bareProps, Body: make([]byte, 100)}
	}
	if err := s.Do(&GroupSet{OnGroup: onGroup("s", "g"), Create: true}); err != nil {
		b.Fatal(err)
	}
	b.Run("add", func(b *testing.B) {
		for range b.N {
			if err := s.Do(adds...); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds(), "entries/s")
	})
	b.Run("read and ack", func(b *testing.B) {
		n := 0
		for range b.N {
			read := &GroupRead{OnGroup: onGroup("s", "g"), Consumer: "c", Max: batch}
			if err := s.Do(read); err != nil {
				b.Fatal(err)
			}
			if len(read.Entries) == 0 {
				b.StopTimer()
				for range 200 {
					if err := s.Do(adds...); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
			}
			ack := &GroupAck{OnGroup: onGroup("s", "g")}
			for _, e := range read.Entries {
				ack.IDs = append(ack.IDs, e.ID)
			}
			if err := s.Do(ack); err != nil {
				b.Fatal(err)
			}
			n += len(read.Entries)
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "entries/s")
	})
}
