package job

import "testing"

// TestDecide checks every state with every wish: update, requeue, reset-backoff.
func TestDecide(t *testing.T) {
	type row struct {
		state   State
		backoff bool // for DoneWithRequeue
		steps   [8]Step
	}
	// The columns are: none, u, q, uq, b, ub, qb, uqb.
	rows := []row{
		{None, false, [8]Step{Add, Add, Add, Add, Add, Add, Add, Add}},
		{Queued, false, [8]Step{AlreadyQueued, Replace, AlreadyQueued, Replace, Retime, Replace, Retime, Replace}},
		{QueuedWithBackoff, false, [8]Step{AlreadyQueued, Replace, AlreadyQueued, Replace, Retime, Replace, Retime, Replace}},
		{Locked, false, [8]Step{IsLocked, IsLocked, AddBehind, AddBehind, IsLocked, IsLocked, AddBehind, AddBehind}},
		{LockedWithRequeue, false, [8]Step{IsLocked, IsLocked, AlreadyQueued, ReplaceBehind, IsLocked, IsLocked, AlreadyQueued, ReplaceBehind}},
		{DoneAwaitingGC, false, [8]Step{AddAfter, AddAfter, AddAfter, AddAfter, AddAfter, AddAfter, AddAfter, AddAfter}},
		{DoneWithBackoff, true, [8]Step{InBackoff, InBackoff, AddAfter, AddAfter, InBackoff, InBackoff, AddAfter, AddAfter}},
		{DoneWithRequeue, true, [8]Step{InBackoff, InBackoff, AlreadyQueued, Replace, InBackoff, InBackoff, AlreadyQueued, Replace}},
		{DoneWithRequeue, false, [8]Step{AlreadyQueued, Replace, AlreadyQueued, Replace, AlreadyQueued, Replace, AlreadyQueued, Replace}},
	}
	for _, r := range rows {
		for i, want := range r.steps {
			w := Wish{Update: i&1 != 0, Requeue: i&2 != 0, ResetBackoff: i&4 != 0}
			if got := Decide(r.state, w, r.backoff); got != want {
				t.Errorf("%v (backoff %v), %+v: step %d, want %d", r.state, r.backoff, w, got, want)
			}
		}
	}
}

func TestStateNames(t *testing.T) {
	names := map[State]string{
		None: "none", Queued: "queued", QueuedWithBackoff: "queued-with-backoff", Locked: "locked", LockedWithRequeue: "locked-with-requeue",
		DoneAwaitingGC: "done-awaiting-gc", DoneWithBackoff: "done-with-backoff", DoneWithRequeue: "done-with-requeue",
	}
	for s, want := range names {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", s, s, want)
		}
	}
}
