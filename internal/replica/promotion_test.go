package replica

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/store"
)

// TestFoundersFailure stops the first node of a cluster after each of the messages by which two
// other nodes become voters. One of the two leads as soon as both report that they are voters. The
// first node knows it before they do: a membership change takes effect on a node once the node
// knows that it is committed.
func TestFoundersFailure(t *testing.T) {
	done := false
	for messages := 0; !done; messages++ {
		if messages == 100 {
			t.Fatal("no end of it")
		}
		synctest.Test(t, func(t *testing.T) {
			tm := founded(t)
			tm.limit(messages)
			tm.pass(3 * TickInterval)
			done = true
			for node := 1; node < 3; node++ {
				done = done && slices.Contains(tm.replicas[node].Status().Voters, uint64(node+1))
			}
			tm.isolate(0, true)
			tm.limit(-1)
			if done {
				tm.leader(0)
			}
		})
	}
}

// founded returns a cluster of one voter and two learners that are about to become voters.
func founded(t *testing.T) *team {
	states := []store.RaftState{Founding(1, 1, testAddress(1)), Joining(1, 2, testAddresses(1)), Joining(1, 3, testAddresses(1))}
	tm := newTeamOf(t, states)
	tm.leader(-1)
	for node := 1; node < 3; node++ {
		if err := add(tm.replicas[0], uint64(node+1), testAddress(node+1)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-tm.replicas[node].Done():
		case <-time.After(time.Minute):
			t.Fatal("no snapshot came")
		}
		if err := tm.replicas[node].Err(); !errors.Is(err, ErrInstalled) {
			t.Fatal(err)
		}
		if err := tm.stores[node].Close(); err != nil {
			t.Fatal(err)
		}
	}
	tm.limit(0)
	tm.start(1)
	tm.start(2)
	return tm
}
