package replica

import (
	"testing"
	"time"
)

// TestSilentLeader checks that a node that does not campaign forgets a leader that it no longer
// hears, and knows it again with its next message.
func TestSilentLeader(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		stuck := (leader + 1) % 3
		release := tm.disks[stuck].hold()
		defer release()
		if err := <-tm.machines[leader].put("hangs on one disk"); err != nil {
			t.Fatal(err)
		}
		knows := func(want int) {
			t.Helper()
			if got := tm.replicas[stuck].Status().Leader; got != uint64(want) {
				t.Errorf("the node takes %d for the leader, want %d", got, want)
			}
		}
		tm.pass(stuckTicks*TickInterval + time.Second)
		knows(leader + 1)
		tm.isolate(stuck, true)
		tm.pass(silentAfter - time.Second)
		knows(leader + 1)
		tm.pass(2 * time.Second)
		knows(0)
		tm.isolate(stuck, false)
		tm.pass(time.Second)
		knows(leader + 1)
	})
}

// TestRemovedNode checks that a node that was removed knows it, or at least no leader if it missed
// its removal.
func TestRemovedNode(t *testing.T) {
	for _, missed := range []bool{false, true} {
		bubble(t, 4, func(t *testing.T, tm *team) {
			leader := tm.leader(-1)
			gone := (leader + 1) % 4
			if missed {
				tm.isolate(gone, true)
			}
			if err := remove(tm.replicas[leader], uint64(gone+1)); err != nil {
				t.Fatal(err)
			}
			tm.pass(silentAfter + time.Second)
			st := tm.replicas[gone].Status()
			if st.Leader != 0 || st.Removed == missed {
				t.Errorf("missed %t: leader %d, removed %t", missed, st.Leader, st.Removed)
			}
			if st := tm.replicas[leader].Status(); st.Leader != uint64(leader+1) || st.Removed {
				t.Errorf("the leader: leader %d, removed %t", st.Leader, st.Removed)
			}
		})
	}
}
