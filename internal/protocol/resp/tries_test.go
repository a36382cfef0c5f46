package resp

import (
	"strings"
	"testing"
)

// TestTriesInARow: requests in a row that may wait are done together as far as there is something for them; the first that got nothing waits, and what
// stands behind it is not done before.
func TestTriesInARow(t *testing.T) {
	for _, try := range [][]string{{"BRPOP", "q", "0"}, {"JOB.TAKE", "q", "BLOCK", "0"}} {
		t.Run(try[0], func(t *testing.T) {
			n := startNode(t, Options{})
			c, other := n.dial(), n.dial()
			c.send(encode("LPUSH", "q", "a", "b") + strings.Repeat(encode(try...), 4) + encode("BRPOP", "q") +
				encode("LPUSH", "later", "x") + encode("ECHO", "behind"))
			n.untilBlocked(other, 1)
			other.wants("EXISTS later", "0")
			got := []string{c.reply(), c.reply(), c.reply()}
			if got[0] != "2" || !strings.Contains(got[1], `"a"`) || !strings.Contains(got[2], `"b"`) {
				t.Errorf("%v", got)
			}
			other.wants("LPUSH q c", "1")
			n.untilBlocked(other, 1)
			other.wants("EXISTS later", "0")
			other.wants("LPUSH q d", "1")
			for _, want := range []string{`"c"`, `"d"`, "-ERR wrong number", "1", `"behind"`} {
				if got := c.reply(); !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
			other.wants("EXISTS later", "1")
		})
	}
}
