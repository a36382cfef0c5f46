package workertest_test

import (
	"context"
	"fmt"

	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/workertest"
)

// This example tests a handler without a broker.
func ExampleMemory() {
	jobs := workertest.NewMemory()
	defer jobs.Close()
	greeted := make(chan string)
	w, err := worker.New(jobs, "names", func(_ context.Context, m worker.Message[string]) error {
		greeted <- "hello " + m.Payload
		return nil
	}, worker.Options{AutoStart: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Stop(context.Background())
	names := worker.Queue[string]{Jobs: jobs, Name: "names"}
	if _, err := names.Enqueue(context.Background(), "ann", worker.EnqueueOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-greeted)
	// Output: hello ann
}
