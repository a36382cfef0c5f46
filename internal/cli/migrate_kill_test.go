package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/redisd"
	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/carmine"
)

// TestKilledMigration kills the program repeatedly while it moves a queue. In the end everything
// must be in the broker exactly once.
func TestKilledMigration(t *testing.T) {
	from, to := "redis://"+redisd.Start(t, redisd.Options{}), jobBroker(t)
	source, err := carmine.Dial(from, carmine.Options{})
	must(t, err)
	defer source.Close()
	const n = 10_000
	for i := 0; i < n; i += 1000 {
		var requests []worker.EnqueueRequest
		for k := range 1000 {
			o := worker.EnqueueOptions{MID: fmt.Sprint(i + k)}
			if k%10 == 0 {
				o.Backoff = time.Hour
			}
			requests = append(requests, worker.EnqueueRequest{Queue: "mail", Body: []byte(o.MID), EnqueueOptions: o})
		}
		if _, err := source.EnqueueAll(t.Context(), requests); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for done := false; !done; {
		// Each run gets a little more time, so that the test ends on a slow machine too.
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(50*(kills+1)+random.IntN(100))*time.Millisecond)
		cmd := exec.CommandContext(ctx, os.Args[0], "migrate", "carmine", from, "mail", "--to", to)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		out, err := cmd.CombinedOutput()
		done = err == nil
		if killed := ctx.Err() != nil; !killed && !done {
			t.Fatalf("%v: %s", err, out)
		}
		cancel()
		if !done {
			kills++
		}
	}
	broker, err := worker.Dial(to)
	must(t, err)
	defer broker.Close()
	s, err := broker.QueueStatus(t.Context(), "mail")
	if err != nil || s.Queued != n-n/10 || s.Backoff != n/10 || s.Total != n {
		t.Errorf("%+v, %v", s, err)
	}
	if names, err := source.Names(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("left are %q, %v", names, err)
	}
	if kills == 0 {
		t.Error("nothing was killed: the queue is too short")
	}
	t.Logf("killed %d times", kills)
}
