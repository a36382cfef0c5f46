package jobs_test

import (
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// start starts a broker with the protocol in front.
func start(t *testing.T) *resptest.Node {
	return resptest.Start(t, broker.Options{DiskFreeLimit: -1}, func(n *resptest.Node) resptest.Server {
		return resp.New(n.Broker, resp.Options{Shared: protocol.Shared{Semaphores: n.Semaphores, Log: n.Logger(), LoginDelay: -1}})
	})
}

// TestJobGrammar checks that errors in a request are reported before anything is done.
func TestJobGrammar(t *testing.T) {
	c := start(t).Dial()
	long := strings.Repeat("x", 256)
	for _, row := range [][2]string{
		{"JOB.ENQUEUE q", "ERR wrong number of arguments for 'job.enqueue' command"},
		{"JOB.ENQUEUE q b NONSENSE", "ERR syntax error near 'NONSENSE'"},
		{"JOB.ENQUEUE q b ID", "ERR syntax error, something is missing after 'ID'"},
		{"JOB.ENQUEUE q b ID " + long, "ERR a job's id has 1 to 255 bytes"},
		{"JOB.ENQUEUE q b BACKOFF", "ERR syntax error, something is missing after 'BACKOFF'"},
		{"JOB.ENQUEUE q b BACKOFF x", "ERR value is not an integer or out of range"},
		{"JOB.ENQUEUE q b BACKOFF 1.5", "ERR value is not an integer or out of range"},
		{"JOB.ENQUEUE q b BACKOFF +5", "ERR value is not an integer or out of range"},
		{"JOB.ENQUEUE q b BACKOFF 9223372036854775807", "ERR value is not an integer or out of range"},
		{"JOB.ENQUEUE q b BACKOFF -1", "ERR value is out of range, must be positive"},
		{"JOB.ENQUEUE q b LOCK -1", "ERR value is out of range, must be positive"},
		{"JOB.ENQUEUE q b EXPIRE -1", "ERR value is out of range, must be positive"},
		{"JOB.ENQUEUE q b PRIORITY 256", "ERR value is not an integer or out of range"},
		{"JOB.ENQUEUE q b HEADERS", "ERR syntax error, something is missing after 'HEADERS'"},
		{"JOB.ENQUEUE q b HEADERS a", "ERR syntax error, something is missing after 'a'"},
		{"JOB.ENQUEUE q b HEADERS a 1 b", "ERR syntax error, something is missing after 'b'"},
		{"JOB.ENQUEUE q b HEADERS " + long + " 1", "ERR invalid header name '" + long[:128] + "'"},
		{"JOB.ENQUEUE q b HEADERS x-lock-ms 1", "ERR invalid header name 'x-lock-ms'"},
		{"JOB.ENQUEUE q b ATTEMPTS -1", "ERR value is out of range, must be positive"},
		{"JOB.ENQUEUE q b FIRST x", "ERR value is not an integer or out of range"},
		{"JOB.ENQUEUE q b LOCKED", "ERR syntax error, something is missing after 'LOCKED'"},
		{"JOB.REMEMBER q m", "ERR wrong number of arguments for 'job.remember' command"},
		{"JOB.REMEMBER q " + long + " 5", "ERR a job's id has 1 to 255 bytes"},
		{"JOB.REMEMBER q m x", "ERR value is not an integer or out of range"},
		{"JOB.REMEMBER q m 5 NONSENSE", "ERR syntax error near 'NONSENSE'"},
		{"JOB.REMEMBER q m 5 ATTEMPTS", "ERR syntax error, something is missing after 'ATTEMPTS'"},
		{"JOB.MENQUEUE q 1 b", "ERR wrong number of arguments for 'job.menqueue' command"},
		{"JOB.MENQUEUE q 0 b 0", "ERR value is out of range, must be positive"},
		{"JOB.MENQUEUE q -1 b 0", "ERR value is out of range, must be positive"},
		{"JOB.MENQUEUE q x b 0", "ERR value is not an integer or out of range"},
		{"JOB.MENQUEUE q 2 b 0", "ERR syntax error, something is missing after '0'"},
		{"JOB.MENQUEUE q 999999999 b 0", "ERR value is not an integer or out of range"},
		{"JOB.MENQUEUE q 1 b 2 ID", "ERR syntax error, something is missing after '2'"},
		{"JOB.MENQUEUE q 1 b 0 c 0", "ERR syntax error near 'c'"},
		{"JOB.TAKE", "ERR wrong number of arguments for 'job.take' command"},
		{"JOB.TAKE q COUNT", "ERR syntax error, something is missing after 'COUNT'"},
		{"JOB.TAKE q COUNT 0", "ERR value is out of range, must be positive"},
		{"JOB.TAKE q COUNT x", "ERR value is not an integer or out of range"},
		{"JOB.TAKE q BLOCK -1", "ERR value is out of range, must be positive"},
		{"JOB.TAKE q LOCK 5 r", "ERR syntax error near 'r'"},
		{"JOB.DONE q m", "ERR wrong number of arguments for 'job.done' command"},
		{"JOB.DONE q m 1-1 BACKOFF", "ERR syntax error, something is missing after 'BACKOFF'"},
		{"JOB.DONE q m 1-1 ERROR x", "ERR syntax error near 'ERROR'"},
		{"JOB.FAIL q m 1-1 BACKOFF 5", "ERR syntax error near 'BACKOFF'"},
		{"JOB.FAIL q m 1-1 ERROR", "ERR syntax error, something is missing after 'ERROR'"},
		{"JOB.RETRY q m 1-1 BACKOFF -5", "ERR value is out of range, must be positive"},
		{"JOB.DONE q m nonsense", "STALE the lock on job 'm' is over"},
		{"JOB.EXTEND q m 1-1", "ERR wrong number of arguments for 'job.extend' command"},
		{"JOB.EXTEND q m 1-1 0", "ERR value is out of range, must be positive"},
		{"JOB.EXTEND q m nonsense 5", "STALE the lock on job 'm' is over"},
		{"JOB.STATUS q", "ERR wrong number of arguments for 'job.status' command"},
		{"JOB.STATUS q m NONSENSE", "ERR syntax error near 'NONSENSE'"},
		{"JOB.CANCEL q m NONSENSE", "ERR syntax error near 'NONSENSE'"},
		{"QUEUE.CONTENT q CURSOR", "ERR syntax error, something is missing after 'CURSOR'"},
		{"QUEUE.CONTENT q COUNT 0", "ERR value is out of range, must be positive"},
		{"QUEUE.CONTENT q NONSENSE", "ERR syntax error near 'NONSENSE'"},
	} {
		c.Wants(row[0], "-"+row[1])
	}
}

// masked returns a reply without the parts that differ between runs: random ids, tokens, times.
func masked(reply string) string {
	reply = regexp.MustCompile(`("token" )"[^"]+"`).ReplaceAllString(reply, `${1}"T"`)
	reply = regexp.MustCompile(`("enqueued" )1[0-9]{12}`).ReplaceAllString(reply, "${1}NOW")
	return regexp.MustCompile(`("(?:backoff|lock)" )[1-9][0-9]{4,}`).ReplaceAllString(reply, "${1}MS")
}

var tokenOf = regexp.MustCompile(`"token" "([^"]+)"`)

// TestJobReplies checks the reply of each command in both protocol versions.
func TestJobReplies(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		t.Run("RESP"+version, func(t *testing.T) {
			c := start(t).Dial()
			c.Do("HELLO", version)
			open, end, none := "[", "]", "nil"
			if version == "3" {
				open, end, none = "{", "}", "null"
			}
			dict := func(inner string) string { return open + inner + end }
			token := ""
			play := func(command, want string) {
				t.Helper()
				reply := c.Do(strings.Fields(strings.ReplaceAll(command, "TOKEN", token))...)
				if all := tokenOf.FindAllStringSubmatch(reply, -1); all != nil {
					token = all[len(all)-1][1]
				}
				if got := masked(reply); got != want {
					t.Errorf("%s\n got %s\nwant %s", command, got, want)
				}
			}
			job := func(mid, body, attempt, headers string) string {
				return dict(`"queue" "q" "mid" "` + mid + `" "body" "` + body + `" "attempt" ` + attempt + ` "token" "T" "lock" MS "enqueued" NOW "headers" ` + headers)
			}
			detail := func(status, attempts, backoff, lock, size string) string {
				return `"status" "` + status + `" "attempts" ` + attempts + ` "enqueued" NOW "backoff" ` + backoff + ` "lock" ` + lock + ` "size" ` + size + ` "priority" 0`
			}
			play("JOB.TAKE q", "[]")
			play("JOB.STATUS q a", none)
			play("QUEUE.CONTENT q", `["0" []]`)
			play("QUEUE.STATUS q", dict(`"nqueued" 0 "nlocked" 0 "nbackoff" 0 "nrequeue" 0 "ndone" 0 "ndonebackoff" 0 "ntotal" 0`))
			play("JOB.DONE q a 1-1", "-STALE the lock on job 'a' is over")
			play("JOB.CANCEL q a", "0")
			play("QUEUE.CLEAR q r", "0")
			play("job.enqueue q hello id a headers who me n 1", `["added" "a"]`)
			play("JOB.ENQUEUE q again ID a", "-ALREADYQUEUED job 'a' is already queued")
			play("JOB.ENQUEUE q later ID b BACKOFF 60000", `["added" "b"]`)
			play("JOB.MENQUEUE q 3 x 2 ID c y 2 ID c z 1 NONSENSE", `[["added" "c"] -ALREADYQUEUED job 'c' is already queued -ERR syntax error near 'NONSENSE']`)
			play("JOB.TAKE r q COUNT 1", "["+job("a", "hello", "1", dict(`"who" "me" "n" "1"`))+"]")
			play("JOB.ENQUEUE q again ID a", "-LOCKED job 'a' is locked")
			play("JOB.CANCEL q a", "-LOCKED job 'a' is locked")
			play("JOB.STATUS q a", `"locked"`)
			play("JOB.STATUS q a DETAIL", dict(detail("locked", "1", "0", "MS", "5")))
			play("JOB.STATUS q b DETAIL", dict(detail("queued-with-backoff", "0", "MS", "0", "5")))
			play("JOB.EXTEND q a TOKEN 70000", "+OK")
			play("QUEUE.STATUS q", dict(`"nqueued" 1 "nlocked" 1 "nbackoff" 1 "nrequeue" 0 "ndone" 0 "ndonebackoff" 0 "ntotal" 3`))
			play("JOB.RETRY q a TOKEN ERROR why", "+OK")
			play("JOB.RETRY q a TOKEN", "-STALE the lock on job 'a' is over")
			play("JOB.TAKE q COUNT 5", "["+job("a", "hello", "2", dict(`"who" "me" "n" "1" "x-error" "why"`))+" "+job("c", "x", "1", dict(""))+"]")
			play("JOB.STATUS q a DETAIL", dict(detail("locked", "2", "0", "MS", "5")+` "error" "why"`))
			play("JOB.FAIL q c TOKEN ERROR sorry", "+OK")
			play("JOB.CANCEL q b", "1")
			play("JOB.CANCEL q a FORCE", "1")
			play("JOB.ENQUEUE q one ID d", `["added" "d"]`)
			play("JOB.TAKE q", "["+job("d", "one", "1", dict(""))+"]")
			play("JOB.ENQUEUE q two ID d REQUEUE", `["added" "d"]`)
			play("QUEUE.STATUS q", dict(`"nqueued" 0 "nlocked" 1 "nbackoff" 0 "nrequeue" 1 "ndone" 0 "ndonebackoff" 0 "ntotal" 1`))
			play("JOB.STATUS q d", `"locked-with-requeue"`)
			play("JOB.DONE q d TOKEN BACKOFF 50000", "+OK")
			play("JOB.STATUS q d", `"done-with-requeue"`)
			play("JOB.ENQUEUE q e ID d", "-BACKOFF job 'd' is in backoff")
			play("QUEUE.CLEAR q", "1")
			play("QUEUE.STATUS q", dict(`"nqueued" 0 "nlocked" 0 "nbackoff" 0 "nrequeue" 0 "ndone" 0 "ndonebackoff" 0 "ntotal" 0`))
		})
	}
}

// TestJobRandomID checks that a job without an id gets one.
func TestJobRandomID(t *testing.T) {
	c := start(t).Dial()
	first, second := c.Do("JOB.ENQUEUE", "q", "x"), c.Do("JOB.ENQUEUE", "q", "x")
	if first == second || !regexp.MustCompile(`^\["added" "[^"@]{16,}"\]$`).MatchString(first) {
		t.Error(first, second)
	}
}

// TestJobContent checks that the pages of a listing contain every job exactly once.
func TestJobContent(t *testing.T) {
	c := start(t).Dial()
	want := 57
	for i := range want {
		c.Do("JOB.ENQUEUE", "q", "x", "ID", strings.Repeat("i", i+1))
	}
	seen, cursor := map[string]int{}, "0"
	for pages := 0; pages < 100; pages++ {
		reply := c.Do("QUEUE.CONTENT", "q", "COUNT", "10", "CURSOR", cursor)
		for _, m := range regexp.MustCompile(`"mid" "(i+)"`).FindAllStringSubmatch(reply, -1) {
			seen[m[1]]++
		}
		if cursor = strings.Split(reply, `"`)[1]; cursor == "0" {
			break
		}
	}
	if len(seen) != want {
		t.Errorf("%d of %d jobs", len(seen), want)
	}
	for mid, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", mid, n)
		}
	}
}

// TestHeadersFitAFrame checks that headers are bounded, so that AMQP consumers can receive a job
// and its dead letter.
func TestHeadersFitAFrame(t *testing.T) {
	c := start(t).Dial()
	c.Wants("JOB.ENQUEUE q x ID m HEADERS name "+strings.Repeat("v", 70_000), "-ERR too large")
	c.Wants("JOB.ENQUEUE q x ID m HEADERS name "+strings.Repeat("v", 60_000), `["added" "m"]`)
}
