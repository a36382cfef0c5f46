package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/worker"
)

// BenchmarkWorker measures enqueuing a job, handling it with a handler that does nothing, and
// reporting it.
func BenchmarkWorker(b *testing.B) {
	for _, way := range []string{"network", "process"} {
		for _, handlers := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("%s/%d", way, handlers), func(b *testing.B) {
				br, err := fiveways.Start(fiveways.Options{Data: b.TempDir(), AMQP: "off", Redis: "127.0.0.1:0"})
				if err != nil {
					b.Fatal(err)
				}
				defer br.Stop(context.Background())
				jobs := br.Jobs()
				if way == "network" {
					if jobs, err = worker.Dial(br.RedisURL()); err != nil {
						b.Fatal(err)
					}
				}
				defer jobs.Close()
				benchmarkWorker(b, jobs, handlers)
			})
		}
	}
}

func benchmarkWorker(b *testing.B, jobs worker.Jobs, handlers int) {
	var done sync.WaitGroup
	done.Add(b.N)
	w, err := worker.New(jobs, "q", func(context.Context, worker.Message[[]byte]) error {
		done.Done()
		return nil
	}, worker.Options{Handlers: handlers, AutoStart: true})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var enqueuers sync.WaitGroup
	for i := range handlers {
		enqueuers.Go(func() {
			for range (b.N - i + handlers - 1) / handlers {
				if _, err := jobs.Enqueue(b.Context(), "q", []byte("a job"), worker.EnqueueOptions{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	enqueuers.Wait()
	done.Wait()
	b.StopTimer()
	if err := w.Stop(b.Context()); err != nil {
		b.Error(err)
	}
}
