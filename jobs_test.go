package fiveways_test

import (
	"context"
	"fmt"
	"os"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/worker"
)

// This example runs a broker and a worker in one program.
func ExampleBroker_Jobs() {
	dir, err := os.MkdirTemp("", "fiveways")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	b, err := fiveways.Start(fiveways.Options{Data: dir, AMQP: "off"})
	if err != nil {
		panic(err)
	}
	defer b.Stop(context.Background())
	jobs := b.Jobs()
	defer jobs.Close()

	type mail struct{ To string }
	sent := make(chan string)
	w, err := worker.New(jobs, "mails", func(_ context.Context, m worker.Message[mail]) error {
		sent <- m.Payload.To
		return nil
	}, worker.Options{AutoStart: true})
	if err != nil {
		panic(err)
	}
	mails := worker.Queue[mail]{Jobs: jobs, Name: "mails"}
	if _, err := mails.Enqueue(context.Background(), mail{"ann"}, worker.EnqueueOptions{}); err != nil {
		panic(err)
	}
	fmt.Println(<-sent)
	w.Stop(context.Background())
	fmt.Println(w.Status().Counts.Success)
	// Output:
	// ann
	// 1
}
