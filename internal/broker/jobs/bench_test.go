package jobs

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// benchJobs opens a broker in memory and a session for a queue of jobs.
func benchJobs(b *testing.B) (*broker.Broker, *broker.Session) {
	b.Helper()
	br, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), DiskFreeLimit: -1, Shards: 1, Sync: store.SyncOS})
	if err != nil {
		b.Fatal(err)
	}
	s, err := br.Operate("/")
	if err != nil {
		b.Fatal(err)
	}
	return br, s
}

func benchDo(b *testing.B, s *broker.Session, commands ...broker.Command) {
	if err := s.Do(commands...); err != nil {
		b.Fatal(err)
	}
	for _, c := range commands {
		if err := c.Failure(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJobs measures enqueue, take and done of one job, in batches of several sizes.
func BenchmarkJobs(b *testing.B) {
	for _, batch := range []int{1, 16, 128} {
		b.Run(fmt.Sprint("batch ", batch), func(b *testing.B) {
			br, s := benchJobs(b)
			defer br.Close()
			body := make([]byte, 100)
			enqueues, reports := make([]Enqueue, batch), make([]Report, batch)
			first, last := make([]broker.Command, batch), make([]broker.Command, batch)
			for i := range enqueues {
				first[i], last[i] = &enqueues[i], &reports[i]
			}
			take := &Take{OnQueue: enginetest.On("q"), Max: batch}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for i := range enqueues {
					n++
					enqueues[i] = Enqueue{OnQueue: enginetest.On("q"), ID: fmt.Append(enqueues[i].ID[:0], n), Body: body}
				}
				benchDo(b, s, first...)
				benchDo(b, s, take)
				for i, j := range take.Jobs {
					reports[i] = Report{OnQueue: enginetest.On("q"), ID: j.ID, Token: j.Token}
				}
				benchDo(b, s, last...)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/job")
		})
	}
}

// BenchmarkTakeDeep takes jobs from a queue with many locked, backed-off and queued ones, and
// reports the memory per job.
func BenchmarkTakeDeep(b *testing.B) {
	for _, deep := range []int{1000, 300_000} {
		b.Run(fmt.Sprint(deep), func(b *testing.B) {
			br, s := benchJobs(b)
			defer br.Close()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			commands := make([]broker.Command, 0, 1000)
			for i := range deep {
				commands = append(commands, &Enqueue{OnQueue: enginetest.On("q"), ID: fmt.Appendf(nil, "job-%030d", i), Body: make([]byte, 100), Backoff: int64(i % 2 * 1_000_000)})
				if len(commands) == cap(commands) {
					benchDo(b, s, commands...)
					commands = commands[:0]
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			take := &Take{OnQueue: enginetest.On("q"), Max: 1}
			report := &Report{OnQueue: enginetest.On("q"), Outcome: Retry}
			for b.Loop() {
				benchDo(b, s, take)
				if len(take.Jobs) == 0 {
					b.Fatal("none left")
				}
				report.ID, report.Token = take.Jobs[0].ID, take.Jobs[0].Token
				benchDo(b, s, report)
			}
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(deep), "B/job")
		})
	}
}
