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

// TestUncommitted checks that a leader whose followers write nothing knows for how long.
func TestUncommitted(t *testing.T) {
	bubble(t, 3, func(t *testing.T, tm *team) {
		leader := tm.leader(-1)
		m, r := tm.machines[leader], tm.replicas[leader]
		is := func(want time.Duration) {
			t.Helper()
			if got := r.Status().Uncommitted; got < want-TickInterval || got > want+TickInterval {
				t.Errorf("%v, want %v", got, want)
			}
		}
		if err := <-m.put("all write it"); err != nil {
			t.Fatal(err)
		}
		tm.pass(time.Second)
		is(0)
		release := tm.disks[(leader+1)%3].hold()
		releaseOther := tm.disks[(leader+2)%3].hold()
		stalled := m.put("the leader alone writes it")
		tm.pass(5 * time.Second)
		m.put("it waits")
		tm.pass(5 * time.Second)
		is(10 * time.Second)
		release()
		releaseOther()
		if err := <-stalled; err != nil {
			t.Fatal(err)
		}
		tm.pass(time.Second)
		is(0)
	})
}
