package mbus

import (
	"fmt"
	"testing"
)

// TestManyHeld: a transaction that holds many messages looks each up in the same time. Its sums are
// those of all messages, and those that it has not taken are found.
func TestManyHeld(t *testing.T) {
	a, b, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	const n = 10_000
	iids := make([]string, n)
	a.begin()
	for i := range iids {
		iids[i] = a.text("post", "q", fmt.Sprintf("n=>%d", i))
	}
	if got := a.call("peek_q", nil)[0][0]; got != true {
		t.Errorf("peek_q found %v among the transaction's own posts", got)
	}
	if got := a.call("peek", iids[n-1]); len(got) != 1 || got[0][0] == nil {
		t.Errorf("peek found %v", got)
	}
	a.commit()

	a.begin()
	for _, iid := range iids[:n-1] {
		if a.call("take", iid)[0][0] == nil {
			t.Fatalf("%s was not found", iid)
		}
	}
	for range 100 {
		if got := a.call("peek_q", nil)[0][0]; got != true {
			t.Fatalf("peek_q found %v, want the last one", got)
		}
		if got := a.call("messages", "q"); len(got) != 1 || got[0][colIID] != iids[n-1] {
			t.Fatalf("messages shows %v", got)
		}
	}
	mark := a.s.Savepoint()
	a.call("take", iids[n-1])
	if got := a.call("peek_q", nil)[0][0]; got != false {
		t.Errorf("peek_q found %v, want none", got)
	}
	if got := a.call("estimated_messages", "q")[0][0]; got != int64(0) {
		t.Errorf("%v messages", got)
	}
	a.s.RollbackTo(mark)
	if got := a.call("peek_q", nil)[0][0]; got != true {
		t.Errorf("peek_q found %v after the rollback to the savepoint", got)
	}
	a.rollback()
	if got := len(b.call("messages", "q")); got != n {
		t.Errorf("%d messages after the rollback", got)
	}
}
