package broker

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"

	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
	"fiveways/internal/storage/vfs"
)

// BenchmarkStream adds entries, 64 with one wait, and gives them to a group, with acknowledgements.
func BenchmarkStream(b *testing.B) {
	broker, err := Open(vfs.OS{}, b.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), DiskFreeLimit: -1, Shards: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer broker.Close()
	s, err := broker.Operate("/")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const batch = 64
	adds := make([]Command, batch)
	for i := range adds {
		adds[i] = &StreamAdd{OnStream: onStream("s"), Create: true, Properties: bareProps, Body: make([]byte, 100)}
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

// TestStreamMemory: what an entry takes in memory beside its message, and what is pending of it.
func TestStreamMemory(t *testing.T) {
	const n = 200_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s := &stream.Stream{}
	for i := range uint64(n) {
		s.Add(stream.ID{Ms: 1_700_000_000_000 + i/3, Seq: i % 3}, queue.Handle(i+1))
	}
	entries := heap()
	g := s.SetGroup("g", stream.ID{}, 0)
	c := g.Enter("c", 0)
	s.Ascend(stream.ID{}, func(id stream.ID, _ queue.Handle) bool {
		g.Give(c, id, 1, 1)
		return true
	})
	pending := heap()
	each := func(from, to uint64) float64 { return float64(to-from) / n }
	t.Log(fmt.Sprintf("%.1f bytes an entry, %.1f more when it is pending", each(before, entries), each(entries, pending)))
	if e := each(before, entries); e > 24 {
		t.Errorf("an entry takes %.1f bytes", e)
	}
	if p := each(entries, pending); p > 96 {
		t.Errorf("a pending entry takes %.1f bytes", p)
	}
	runtime.KeepAlive(s)
}
