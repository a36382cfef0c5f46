package carmine_test

import (
	"context"
	"log"
	"time"

	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/carmine"
)

// This example runs a worker on a Carmine queue, next to Carmine's own workers. It needs a Redis
// server.
func ExampleDial() {
	jobs, err := carmine.Dial("redis://localhost:6379", carmine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer jobs.Close()
	w, err := worker.New(jobs, "mails", func(_ context.Context, m worker.Message[string]) error {
		log.Print("mail to ", m.Payload)
		return nil
	}, worker.Options{Handlers: 8})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Run(context.Background(), time.Minute); err != nil {
		log.Print(err)
	}
}
