package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/replica/transport"
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

// TestCanLead checks which nodes a leader refuses to ask to lead.
func TestCanLead(t *testing.T) {
	s := Status{
		Status: replica.Status{
			Node: 1, Leader: 1, Last: 100, Voters: []uint64{1, 2, 3, 4}, Learners: []uint64{5},
			Match:  map[uint64]uint64{1: 100, 2: 90, 3: 100, 4: 0, 5: 100},
			Behind: map[uint64]time.Duration{2: successorWithin, 4: replica.MaxBehind},
		},
		Peers: map[uint64]transport.PeerStatus{2: {Connected: true}, 4: {Connected: true}, 5: {Connected: true}},
	}
	for node, want := range map[uint64]string{
		1: "", 2: "", 3: "not connected", 4: "lacks 100 entries", 5: "no vote", 6: "no vote",
	} {
		err := s.CanLead(node)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("node %d: %v", node, err)
		}
	}
}

// TestForsaken: the connections of clients end once their node has known no leader for
// LeaderPatience, and not before. That leadership is forgotten, so that later ones do not end.
func TestForsaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &Node{reached: newReached(2, 7), led: time.Now()}
		over := n.reached.over
		<-time.After(LeaderPatience - time.Nanosecond)
		n.endSessions()
		if over.Err() != nil {
			t.Error("they end too early")
		}
		<-time.After(time.Nanosecond)
		n.endSessions()
		if over.Err() == nil {
			t.Error("they do not end")
		}
		if over = n.reached.over; over.Err() != nil || n.reached.leader != 0 {
			t.Error("the leadership is not forgotten")
		}
		<-time.After(time.Hour)
		n.endSessions()
		if over.Err() != nil {
			t.Error("they end again, without a leadership")
		}
	})
}
