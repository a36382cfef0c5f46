package resp

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// TestTriesInARow checks that consecutive requests that may wait run in one batch as long as there
// are elements for them. The first that gets nothing waits, and later requests do not run before
// it.
func TestTriesInARow(t *testing.T) {
	for _, try := range [][]string{{"BRPOP", "q", "0"}, {"JOB.TAKE", "q", "BLOCK", "0"}} {
		t.Run(try[0], func(t *testing.T) {
			n := startNode(t, Options{})
			c, other := n.Dial(), n.Dial()
			c.Send(resptest.Encode("LPUSH", "q", "a", "b") + strings.Repeat(resptest.Encode(try...), 4) + resptest.Encode("BRPOP", "q") +
				resptest.Encode("LPUSH", "later", "x") + resptest.Encode("ECHO", "behind"))
			n.UntilBlocked(other, 1)
			other.Wants("EXISTS later", "0")
			got := []string{c.Reply(), c.Reply(), c.Reply()}
			if got[0] != "2" || !strings.Contains(got[1], `"a"`) || !strings.Contains(got[2], `"b"`) {
				t.Errorf("%v", got)
			}
			other.Wants("LPUSH q c", "1")
			n.UntilBlocked(other, 1)
			other.Wants("EXISTS later", "0")
			other.Wants("LPUSH q d", "1")
			for _, want := range []string{`"c"`, `"d"`, "-ERR wrong number", "1", `"behind"`} {
				if got := c.Reply(); !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
			other.Wants("EXISTS later", "1")
		})
	}
}
