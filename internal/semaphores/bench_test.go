package semaphores

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
)

// BenchmarkChange measures a release with the transition that follows, and the return of the task, by callers at once: with nobody who listens to
// the events, and with a queue.
func BenchmarkChange(b *testing.B) {
	for _, callers := range []int{1, 16} {
		for _, listens := range []bool{false, true} {
			b.Run(fmt.Sprintf("callers=%d/listens=%v", callers, listens), func(b *testing.B) { benchmarkChange(b, callers, listens) })
		}
	}
}

func benchmarkChange(b *testing.B, callers int, listens bool) {
	m := New(Options{Logger: slog.New(slog.DiscardHandler)})
	br, err := broker.Open(vfs.OS{}, b.TempDir(), broker.Options{
		Annexes: map[uint32]broker.Annex{broker.SemaphoreShard: m}, Shards: 1, Sync: store.SyncOS, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer br.Close()
	if err := m.Start(br); err != nil {
		b.Fatal(err)
	}
	defer m.Stop()
	session := func() *broker.Session {
		s, err := br.Operate("/")
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	const tasks = 10_000
	s := session()
	fill := &Enqueue{Of: Of{Key: "k"}}
	for i := range tasks {
		fill.Entries = append(fill.Entries, Entry{Task: fmt.Sprint(i), Priority: rand.Float64()})
	}
	err = m.Do(s, &Create{Of: Of{Key: "k"}}, fill)
	if listens && err == nil {
		p := broker.DefaultQueuePolicy()
		p.MaxLength = 1000
		if _, err = s.DeclareQueue(broker.QueueSpec{Name: "events", Durable: true, Policy: p}); err == nil {
			err = s.Bind(broker.BindSpec{Source: Exchange, Destination: "events", Key: "#"})
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		s := session()
		for pb.Next() {
			task := fmt.Sprint(next.Add(1) % tasks)
			release, back := &Release{Of: Of{Key: "k"}, Tasks: []string{task}}, &Enqueue{Of: Of{Key: "k"}, Entries: []Entry{{Task: task, Priority: rand.Float64()}}}
			if err := m.Do(s, release); err != nil {
				b.Error(err)
			}
			if err := m.Do(s, back); err != nil {
				b.Error(err)
			}
		}
	})
}
