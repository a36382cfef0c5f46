package inbox

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func woken(in *Inbox[int]) bool {
	select {
	case <-in.Wake():
		return true
	default:
		return false
	}
}

func TestSubmitClaimsAnIdleInbox(t *testing.T) {
	in := New[int]()
	a, b := new(int), new(int)
	if s := in.Submit(a, 1, 0); !s.Open || !s.Claimed || s.Again {
		t.Errorf("the first submit of an idle inbox: %+v", s)
	}
	if s := in.Submit(b, 2, 0); s.Claimed || s.Again {
		t.Errorf("a submit while another has the claim: %+v", s)
	}
	if in.Enter() {
		t.Error("the consumer's own goroutine got the claim of a producer")
	}
	if got := in.Take(nil); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("took %v", got)
	}
	in.Push(3, 0)
	if woken(in) {
		t.Error("a push woke the consumer while a producer has the claim")
	}
	in.Leave(Never)
	if !woken(in) {
		t.Error("the producer left an op, and did not wake the consumer")
	}
	if !in.Enter() || in.Rest(Never) {
		t.Error("the consumer rests beside an op")
	}
	in.Take(nil)
	if !in.Rest(5) {
		t.Error("the consumer does not rest")
	}
	if s := in.Submit(b, 4, 0); !s.Claimed || !s.Again {
		t.Errorf("a submit again: %+v", s)
	}
	in.Take(nil)
	in.Leave(5)
	if woken(in) {
		t.Error("woken for a time that is not before its alarm")
	}
	in.Submit(b, 5, 0)
	in.Take(nil)
	in.Leave(4)
	if !woken(in) {
		t.Error("not woken for a time before its alarm")
	}
}

func TestBatchesWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := New[int]()
		in.PushBatch(make([]int, maxOps), 0)
		pushed := false
		go func() { in.PushBatch([]int{7}, 0); pushed = true }()
		synctest.Wait()
		if pushed {
			t.Fatal("a full inbox took a batch")
		}
		if in.Offer(8, 0) {
			t.Fatal("a full inbox took an offer")
		}
		if !in.Push(9, 0) {
			t.Fatal("a push was held back")
		}
		in.Take(nil)
		synctest.Wait()
		if got := in.Take(nil); !pushed || !slices.Equal(got, []int{7}) {
			t.Fatalf("after the swap: pushed %v, %v", pushed, got)
		}
		in.PushBatch(nil, maxBytes)
		go func() { in.PushBatch([]int{1}, 0) }()
		synctest.Wait()
		in.Close() // ends the wait
		synctest.Wait()
		if in.Push(1, 0) || in.Len() != 0 || !in.Done() {
			t.Fatal("a closed inbox takes ops")
		}
	})
}

func TestLargeBatchesAreNotCopied(t *testing.T) {
	in := New[int]()
	batch := make([]int, swapOps)
	next := in.PushBatch(batch, 0)
	if got := in.Take(nil); &got[0] != &batch[0] || len(next) != 0 {
		t.Error("a large batch was copied into an empty inbox")
	}
}

// An inbox is quiet when its consumer's own goroutine has slept for a while, whatever producers do.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := New[int]()
		is := func(want bool, when string) {
			t.Helper()
			if in.Quiet() != want {
				t.Errorf("quiet %s: %v", when, !want)
			}
		}
		is(true, "at first")
		in.Enter()
		<-time.After(time.Hour)
		is(false, "while it is at work")
		in.Rest(Never)
		is(false, "when it has just gone to sleep")
		<-time.After(quietTime + 1)
		is(true, "when it sleeps")
		in.Submit(t, 1, 0)
		is(false, "while a producer does its work")
		in.Take(nil)
		in.Leave(Never)
		is(true, "after a producer")
	})
}
