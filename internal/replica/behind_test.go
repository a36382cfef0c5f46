package replica

import (
	"testing"
	"time"
)

// TestBehind checks that a node counts as behind while it has not got what is older than that.
func TestBehind(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		m, slow := tm.machines[leader], (leader+1)%3
		is := func(when string, least, most time.Duration) {
			t.Helper()
			behind := tm.replicas[leader].Status().Behind
			if got := behind[uint64(slow+1)]; len(behind) != 2 || got < least || got > most {
				t.Errorf("%s: %v", when, behind)
			}
		}
		put := func() {
			t.Helper()
			if err := <-m.put("text"); err != nil {
				t.Fatal(err)
			}
		}
		put()
		tm.pass(time.Second)
		is("all have it", 0, 0)
		release := tm.disks[slow].hold()
		tm.pass(time.Second)
		is("nothing is new", 0, 0)
		put()
		tm.pass(time.Second)
		is("an entry is a second old", 900*time.Millisecond, 1100*time.Millisecond)
		for range 9 {
			put()
			tm.pass(time.Second)
		}
		is("the first one that it lacks is older", MaxBehind, MaxBehind)
		release()
		tm.pass(time.Second)
		is("it has caught up", 0, 0)
	})
}
