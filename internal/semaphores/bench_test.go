package semaphores

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkStart measures a start with tasks in one semaphore: from log entries, and from the
// checkpoint of a clean stop.
func BenchmarkStart(b *testing.B) {
	const tasks = 500_000
	for _, clean := range []bool{false, true} {
		b.Run(fmt.Sprintf("clean=%v", clean), func(b *testing.B) {
			dir := b.TempDir()
			m, br := startForBench(b, dir)
			s, err := br.Operate("/")
			if err == nil {
				err = m.Do(s, &Create{Of: Of{Key: "k"}})
			}
			for i := 0; i < tasks && err == nil; i += 5000 {
				fill := &Enqueue{Of: Of{Key: "k"}}
				for k := range 5000 {
					fill.Entries = append(fill.Entries, Entry{Task: fmt.Sprint(i + k), Priority: rand.Float64()})
				}
				err = m.Do(s, fill)
			}
			if err != nil {
				b.Fatal(err)
			}
			if clean {
				m.Stop()
				br.Close()
			}
			for b.Loop() {
				b.StopTimer()
				copied := b.TempDir() // a stop changes what is there
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				m, br := startForBench(b, copied)
				b.StopTimer()
				m.Stop()
				br.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tasks), "ns/task")
		})
	}
}

// startForBench starts a broker with semaphores.
func startForBench(b *testing.B, dir string) (*Manager, *broker.Broker) {
	m := New(Options{Logger: slog.New(slog.DiscardHandler)})
	br, err := broker.Open(vfs.OS{}, dir, broker.Options{
		StateMachines: map[uint32]statemachine.Machine{statemachine.Semaphores: m}, Shards: 1, Sync: store.SyncOS, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = m.Start(br)
	}
	if err != nil {
		b.Fatal(err)
	}
	return m, br
}

// BenchmarkChange measures a release with the transition that follows, and the task's return, by
// concurrent callers: without a consumer of the events, and with a queue.
func BenchmarkChange(b *testing.B) {
	for _, callers := range []int{1, 16} {
		for _, listens := range []bool{false, true} {
			b.Run(fmt.Sprintf("callers=%d/listens=%v", callers, listens), func(b *testing.B) { benchmarkChange(b, callers, listens) })
		}
	}
}

func benchmarkChange(b *testing.B, callers int, listens bool) {
	m, br := startForBench(b, b.TempDir())
	defer br.Close()
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
	err := m.Do(s, &Create{Of: Of{Key: "k"}}, fill)
	if listens && err == nil {
		p := catalog.DefaultQueuePolicy()
		p.MaxLength = 1000
		if _, err = s.DeclareQueue(catalog.QueueSpec{Name: "events", Durable: true, Policy: p}); err == nil {
			err = s.Bind(catalog.BindSpec{Source: Exchange, Destination: "events", Key: "#"})
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
