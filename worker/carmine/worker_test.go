package carmine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fiveways.dev/fiveways/worker"
)

// TestWorkerBesideClojure checks that a worker of package worker handles jobs that Clojure
// enqueued, while a Clojure worker takes its share.
func TestWorkerBesideClojure(t *testing.T) {
	j, client := dial(t, Options{})
	theirs := clojure{t, client, 3}
	const n = 60
	var mu sync.Mutex
	handled := map[string]int{}
	all := make(chan struct{})
	count := func(mid string) {
		mu.Lock()
		defer mu.Unlock()
		if handled[mid]++; len(handled) == n {
			close(all)
		}
	}
	w, err := worker.New(j, q, func(_ context.Context, m worker.Message[[]byte]) error {
		if m.Attempt == 1 && strings.HasSuffix(m.MID, "7") {
			return worker.Retry(fmt.Errorf("not yet"), 0)
		}
		if string(m.Payload) != "for "+m.MID {
			t.Errorf("%s is %q", m.MID, m.Payload)
		}
		count(m.MID)
		return nil
	}, worker.Options{Handlers: 3})
	ok(t, err)
	w.Start()
	for i := range n {
		mid := fmt.Sprint(i)
		theirs.enqueue(mid, "for "+mid)
		if mid, _, token := theirs.take(worker.DefaultLock); i%5 == 0 && mid != "" {
			theirs.finish(mid, token, true)
			count(mid)
		} else if mid != "" {
			theirs.finish(mid, token, false)
		}
	}
	<-all
	ok(t, w.Stop(t.Context()))
	takeNone(t, j)
	for mid, times := range handled {
		if times != 1 {
			t.Errorf("%s was handled %d times", mid, times)
		}
	}
}
