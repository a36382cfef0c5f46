package carmine

import (
	"strconv"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/redisd"
	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/workertest"
)

// TestConformance checks that Carmine's queues satisfy the interface, for every value of Oldest.
func TestConformance(t *testing.T) {
	for _, oldest := range []int{2, 3} {
		t.Run(strconv.Itoa(oldest), func(t *testing.T) {
			url := "redis://" + redisd.Start(t, redisd.Options{})
			workertest.Conformance(t, workertest.Suite{NoHeaders: true, Open: func(t *testing.T) worker.Jobs {
				j, err := Dial(url, Options{Oldest: oldest, Poll: 50 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				return j
			}})
		})
	}
}
