// Package worker handles background jobs: it takes them from a queue of a Fiveways broker, each
// with a lease, runs a handler on them, and reports the outcomes. Every job is handled to success
// at least once, even if programs or brokers crash meanwhile.
//
//	jobs, err := worker.Dial("redis://guest:guest@127.0.0.1:6380")
//	if err != nil { … }
//	defer jobs.Close()
//
//	w, err := worker.New(jobs, "mail", func(ctx context.Context, m worker.Message[Mail]) error {
//		return send(ctx, m.Payload)
//	}, worker.Options{Handlers: 8})
//	if err != nil { … }
//	w.Start()
//	defer w.Stop(context.Background())
//
// Jobs is the source of the jobs: a broker over the network (Dial), one in the same process
// (fiveways.Broker.Jobs), or one in memory for tests (package workertest). A Jobs and a Worker may
// be used by several goroutines.
package worker
