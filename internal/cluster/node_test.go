package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/replica"
)

// TestChangeWaitsForAnother checks that a change of the members waits for the one in progress, as
// long as its request has time.
func TestChangeWaitsForAnother(t *testing.T) {
	for _, step := range []struct {
		name string
		busy int // answers that another change is in progress
		want error
	}{{"none", 0, nil}, {"one", 3, nil}, {"one that lasts", 1000, replica.ErrBusy}} {
		t.Run(step.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				n, asked := &Node{now: &running{}}, 0
				err := n.change(ctx, func(_ *replica.Replica, done func(error)) {
					if asked++; asked <= step.busy {
						done(replica.ErrBusy)
						return
					}
					done(nil)
				})
				if !errors.Is(err, step.want) {
					t.Errorf("after %d requests: %v", asked, err)
				}
			})
		})
	}
}
