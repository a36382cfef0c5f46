package jobs_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestJobsFromElsewhere checks that a job keeps its history when it comes from another system, and
// that an id that was done there is known.
func TestJobsFromElsewhere(t *testing.T) {
	c := start(t).Dial()
	play := func(command, want string) {
		t.Helper()
		got := regexp.MustCompile(`("lock"|"backoff") [1-9][0-9]{4,}`).ReplaceAllString(c.Do(strings.Fields(command)...), "$1 MS")
		if got = regexp.MustCompile(`"token" "[^"]+"`).ReplaceAllString(got, `"token" "T"`); got != want {
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
	play("JOB.ENQUEUE q x ID a ATTEMPTS 3 FIRST 1700000000001 LOCK 70000", `["added" "a"]`)
	play("JOB.STATUS q a DETAIL", `["status" "queued" "attempts" 3 "enqueued" 1700000000001 "backoff" 0 "lock" 0 "size" 1 "priority" 0]`)
	play("JOB.TAKE q", `[["queue" "q" "mid" "a" "body" "x" "attempt" 4 "token" "T" "lock" MS "enqueued" 1700000000001 "headers" []]]`)
	play("JOB.MENQUEUE q 1 x 8 ID b ATTEMPTS 2 LOCKED 60000 FIRST 1700000000002", `[["added" "b"]]`)
	play("JOB.STATUS q b DETAIL", `["status" "locked" "attempts" 2 "enqueued" 1700000000002 "backoff" 0 "lock" MS "size" 1 "priority" 0]`)
	play("JOB.TAKE q", `[]`)
	play("JOB.ENQUEUE q y ID b REQUEUE", `["added" "b"]`)
	play("JOB.STATUS q b", `"locked-with-requeue"`)
	play("JOB.REMEMBER q c 60000 ATTEMPTS 5 FIRST 1700000000003", "+OK")
	play("JOB.STATUS q c DETAIL", `["status" "done-with-backoff" "attempts" 5 "enqueued" 1700000000003 "backoff" MS "lock" 0 "size" 0 "priority" 0]`)
	play("JOB.REMEMBER q c 1", "+OK")
	play("JOB.ENQUEUE q x ID c", "-BACKOFF job 'c' is in backoff")
	play("JOB.ENQUEUE q x ID c REQUEUE", `["added" "c"]`)
	play("JOB.REMEMBER q b 60000", "-LOCKED job 'b' is locked")
	play("JOB.ENQUEUE q x ID d", `["added" "d"]`)
	play("JOB.REMEMBER q d 60000", "-ALREADYQUEUED job 'd' is already queued")
}
