package mbus

import (
	"errors"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// TestTooLarge: a transaction that is too large to commit fails while it grows, before it fills the
// memory. Rolling back to a savepoint frees room.
func TestTooLarge(t *testing.T) {
	a, _, end := twoCallers(t)
	defer end()
	a.call("create_queue", "q", 1)
	a.s.room = 10_000
	a.begin()
	a.call("post", "q", "n=>1")
	mark := a.s.Savepoint()
	big := "n=>" + strings.Repeat("x", 6000)
	a.call("post", "q", big)
	_, err := a.try("post", "q", big)
	var e *pgerror.Error
	if !errors.As(err, &e) || e.Code != "54000" || e.Hint != "Commit more often." {
		t.Errorf("error %v", err)
	}
	a.s.RollbackTo(mark)
	a.call("post", "q", "n=>2")
	a.call("post", "q", big)
	a.commit()
	a.call("post", "q", big)
	if n := len(a.call("messages", "q")); n != 4 {
		t.Errorf("%d messages", n)
	}
}
