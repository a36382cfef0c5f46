package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/worker"
)

// In this example a job fails at first and is retried.
func Example() {
	dir, err := os.MkdirTemp("", "worker")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	b, err := fiveways.Start(fiveways.Options{Data: dir, AMQP: "off", Redis: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Stop(context.Background())

	jobs, err := worker.Dial(b.RedisURL()) // for a remote broker: redis://user:password@host:6380
	if err != nil {
		fmt.Println(err)
		return
	}
	defer jobs.Close()

	type mail struct{ To string }
	done := make(chan struct{})
	w, err := worker.New(jobs, "mails", func(_ context.Context, m worker.Message[mail]) error {
		fmt.Println(m.Payload.To, "attempt", m.Attempt)
		if m.Attempt == 1 {
			return worker.Retry(errors.New("the mail server is busy"), 0)
		}
		close(done)
		return nil
	}, worker.Options{AutoStart: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	mails := worker.Queue[mail]{Jobs: jobs, Name: "mails"}
	if _, err := mails.Enqueue(context.Background(), mail{"ann"}, worker.EnqueueOptions{MID: "welcome-ann"}); err != nil {
		fmt.Println(err)
		return
	}
	<-done
	w.Stop(context.Background())
	// Output:
	// ann attempt 1
	// ann attempt 2
}
