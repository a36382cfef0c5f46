// Command go sends three mails by background jobs, with package worker.
//
// REDIS_URL is the address of the broker (default redis://127.0.0.1:6380).
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"fiveways.dev/fiveways/worker"
)

// Mail is the payload of a job, stored as JSON in its body.
type Mail struct {
	Number int    `json:"number"`
	To     string `json:"to"`
}

func main() {
	ctx := context.Background()
	jobs, err := worker.Dial(cmp.Or(os.Getenv("REDIS_URL"), "redis://127.0.0.1:6380"))
	if err != nil {
		log.Fatal(err)
	}
	defer jobs.Close()

	// A job with an id that is already queued is not added again.
	mails := worker.Queue[Mail]{Jobs: jobs, Name: "examples.mails"}
	for _, m := range []Mail{{1, "ann"}, {2, "bob"}, {2, "bob"}, {3, "eve"}} {
		_, err := mails.Enqueue(ctx, m, worker.EnqueueOptions{MID: fmt.Sprint("mail-", m.Number)})
		if errors.Is(err, worker.ErrAlreadyQueued) {
			fmt.Printf("mail %d is queued already\n", m.Number)
		} else if err != nil {
			log.Fatal(err)
		}
	}

	sent := make(chan int, 3)
	send := func(_ context.Context, m worker.Message[Mail]) error {
		if m.Payload.To == "bob" && m.Attempt == 1 {
			fmt.Printf("mail %d: %s does not answer\n", m.Payload.Number, m.Payload.To)
			return worker.Retry(errors.New("no answer"), 300*time.Millisecond)
		}
		fmt.Printf("mail %d: sent to %s, attempt %d\n", m.Payload.Number, m.Payload.To, m.Attempt)
		sent <- m.Payload.Number
		return worker.Done(time.Second) // the id is remembered for a second: the same id is rejected during that time
	}
	w, err := worker.New(jobs, "examples.mails", send, worker.Options{Lock: time.Minute, AutoStart: true})
	if err != nil {
		log.Fatal(err)
	}
	for range cap(sent) {
		<-sent
	}
	if err := w.Stop(ctx); err != nil { // waits for the last report
		log.Fatal(err)
	}
}
