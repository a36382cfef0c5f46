package jobs_test

import (
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// gist matches a job in a reply: queue, mid and attempt.
var gist = regexp.MustCompile(`"queue" "(\w+)" "mid" "(\w+)" .*"attempt" (\d+) `)

func gistOf(reply string) string {
	m := gist.FindStringSubmatch(reply)
	if m == nil {
		return reply
	}
	return strings.Join(m[1:], " ")
}

// TestJobTakeWaits checks that a waiting take gets any job that becomes ready in any of its queues.
func TestJobTakeWaits(t *testing.T) {
	n := start(t)
	c, other := n.Dial(), n.Dial()
	waits := func(command string) {
		t.Helper()
		c.Send(resptest.Encode(strings.Fields(command)...))
		n.UntilBlocked(other, 1)
	}
	served := func(want string) string {
		t.Helper()
		reply := c.Reply()
		if got := gistOf(reply); got != want {
			t.Errorf("served %s, want %s", got, want)
		}
		return reply
	}
	c.Wants("JOB.TAKE q r BLOCK 1", "nilarray")
	c.Wants("JOB.TAKE q r", "[]")

	waits("JOB.TAKE q r BLOCK 0 LOCK 40")
	other.Wants("JOB.ENQUEUE r x ID a", `["added" "a"]`)
	token := tokenOf.FindStringSubmatch(served("r a 1"))[1]

	waits("JOB.TAKE q r BLOCK 0") // until the lock expires
	served("r a 2")
	other.Wants("JOB.DONE r a "+token, "-STALE the lock on job 'a' is over")

	waits("JOB.TAKE q r BLOCK 0 COUNT 5")
	other.Wants("JOB.ENQUEUE q x ID b BACKOFF 30", `["added" "b"]`) // until the backoff is over
	token = tokenOf.FindStringSubmatch(served("q b 1"))[1]

	waits("JOB.TAKE q BLOCK 0")
	other.Wants("JOB.RETRY q b "+token+" BACKOFF 30", "+OK")
	token = tokenOf.FindStringSubmatch(served("q b 2"))[1]

	waits("JOB.TAKE q BLOCK 0")
	other.Wants("JOB.ENQUEUE q y ID b REQUEUE", `["added" "b"]`) // again, after the first is done
	other.Wants("JOB.DONE q b "+token+" BACKOFF 30", "+OK")
	served("q b 1")
}

// TestJobTakeOrder checks that jobs are taken from the first queue that has one.
func TestJobTakeOrder(t *testing.T) {
	c := start(t).Dial()
	c.Do("JOB.ENQUEUE", "b", "x", "ID", "one")
	c.Do("JOB.ENQUEUE", "c", "x", "ID", "two")
	c.Do("JOB.ENQUEUE", "count", "x", "ID", "three")
	for _, row := range [][2]string{
		{"JOB.TAKE a b c", "b one 1"},
		{"JOB.TAKE a b c BLOCK 5", "c two 1"},
		{"JOB.TAKE a b c", "[]"},
		{"JOB.TAKE count COUNT 2", "count three 1"},
	} {
		if got := gistOf(c.Do(strings.Fields(row[0])...)); got != row[1] {
			t.Errorf("%s: %s, want %s", row[0], got, row[1])
		}
	}
}

// TestJobsInTransaction checks that job commands run with the rest of a transaction, and that none
// of them waits.
func TestJobsInTransaction(t *testing.T) {
	c := start(t).Dial()
	c.Wants("MULTI", "+OK")
	for _, command := range []string{"JOB.ENQUEUE q x ID a", "JOB.ENQUEUE r y ID b", "JOB.TAKE o q r BLOCK 0", "JOB.TAKE o BLOCK 0", "JOB.ENQUEUE q x ID a"} {
		c.Wants(command, "+QUEUED")
	}
	got := masked(c.Do("EXEC"))
	want := `[["added" "a"] ["added" "b"] [["queue" "q" "mid" "a" "body" "x" "attempt" 1 "token" "T" "lock" MS "enqueued" NOW "headers" []]] nilarray ` +
		`-LOCKED job 'a' is locked]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
