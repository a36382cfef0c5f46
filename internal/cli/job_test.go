package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/test/redisd"
)

// jobServers returns the servers that the job commands work with.
func jobServers(t *testing.T) map[string]string {
	return map[string]string{"broker": jobBroker(t), "carmine": "carmine://" + redisd.Start(t, redisd.Options{})}
}

// jobBroker starts a broker and returns its URL.
func jobBroker(t *testing.T) string {
	t.Helper()
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), AMQP: "off", Redis: "127.0.0.1:0"})
	must(t, err)
	t.Cleanup(func() { b.Stop(context.Background()) }) //nolint:errcheck // no data to keep
	return b.RedisURL()
}

// job runs a job command, checks the exit code, and returns its output.
func job(t *testing.T, server string, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, code := command(t, append(append([]string{"job"}, args...), "--url", server)...)
	if code != want {
		t.Fatalf("%q: exit code %d, %s", args, code, stderr)
	}
	return stdout, stderr
}

// wordsOf returns the words of the line that begins with a word.
func wordsOf(t *testing.T, text, first string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == first {
			return words
		}
	}
	t.Fatalf("no line begins with %s:\n%s", first, text)
	return nil
}

func TestJob(t *testing.T) {
	for name, server := range jobServers(t) {
		t.Run(name, func(t *testing.T) {
			if out, _ := job(t, server, exitcode.OK, "enqueue", "mail", "hello", "--id", "m1"); out != "added m1\n" {
				t.Errorf("enqueue: %q", out)
			}
			if _, hint := job(t, server, exitcode.Failure, "enqueue", "mail", "hello", "--id", "m1"); !strings.Contains(hint, "--update") {
				t.Errorf("a second time: %q", hint)
			}
			if out, _ := job(t, server, exitcode.OK, "enqueue", "mail", "hello again", "--id", "m1", "--update", "--json"); out != `{"action":"updated","mid":"m1"}`+"\n" {
				t.Errorf("update: %q", out)
			}
			job(t, server, exitcode.OK, "enqueue", "mail", "later", "--id", "m2", "--backoff", "1h")
			out, _ := job(t, server, exitcode.OK, "list")
			if w := wordsOf(t, out, "mail"); strings.Join(w[1:], " ") != "1 0 1 2" {
				t.Errorf("list: %q", w)
			}
			out, _ = job(t, server, exitcode.OK, "take", "mail", "other", "--lock", "10m")
			took := wordsOf(t, out, "mail")
			if len(took) < 7 || took[1] != "m1" || took[2] != "1" || took[4] != "10m0s" || !strings.HasSuffix(out, "hello again\n") {
				t.Fatalf("take: %q", out)
			}
			out, _ = job(t, server, exitcode.OK, "status", "mail", "m1")
			if w := wordsOf(t, out, "m1"); w[1] != "locked" || w[2] != "1" {
				t.Errorf("status: %q", out)
			}
			if _, hint := job(t, server, exitcode.Failure, "enqueue", "mail", "x", "--id", "m1"); !strings.Contains(hint, "--requeue") {
				t.Errorf("of a locked one: %q", hint)
			}
			job(t, server, exitcode.OK, "extend", "mail", "m1", took[3], "--lock", "20m")
			job(t, server, exitcode.OK, "retry", "mail", "m1", took[3])
			if _, hint := job(t, server, exitcode.Failure, "done", "mail", "m1", took[3]); !strings.Contains(hint, "job status") {
				t.Errorf("with an old token: %q", hint)
			}
			out, _ = job(t, server, exitcode.OK, "take", "mail", "--json", "--wait", "1m")
			var v jobAnswer
			if err := json.Unmarshal([]byte(out), &v); err != nil || v.MID != "m1" || v.Attempts != 2 || v.Body == nil || *v.Body != "hello again" || v.Lock != 3_600_000 {
				t.Fatalf("take: %v, %s", err, out)
			}
			job(t, server, exitcode.OK, "done", "mail", "m1", v.Token, "--backoff", "1h")
			out, _ = job(t, server, exitcode.OK, "status", "mail", "m1", "--json")
			if err := json.Unmarshal([]byte(out), &v); err != nil || v.State != "done-with-backoff" || v.Backoff < 3_500_000 {
				t.Errorf("status: %v, %s", err, out)
			}
			job(t, server, exitcode.Failure, "status", "mail", "unknown")
			out, _ = job(t, server, exitcode.OK, "list", "mail", "--limit", "10")
			if w := wordsOf(t, out, "m2"); w[1] != "queued-with-backoff" {
				t.Errorf("list: %q", out)
			}
			job(t, server, exitcode.OK, "clear", "mail", "--yes")
			if out, _ := job(t, server, exitcode.OK, "status", "mail", "--json"); !strings.Contains(out, `"total":0`) {
				t.Errorf("after clear: %s", out)
			}
			job(t, server, exitcode.WrongUsage, "list", "mail", "--limit", "0")
			job(t, server, exitcode.WrongUsage, "take")
		})
	}
}

func TestJobListStopsAtItsLimit(t *testing.T) {
	for name, server := range jobServers(t) {
		t.Run(name, func(t *testing.T) {
			for _, id := range []string{"a", "b", "c"} {
				job(t, server, exitcode.OK, "enqueue", "q", id, "--id", id)
			}
			for limit, want := range map[string]int{"2": 4, "3": 4, "4": 4} { // a heading, the jobs, and a note that there are more
				out, _ := job(t, server, exitcode.OK, "list", "q", "--limit", limit)
				if n := strings.Count(out, "\n"); n != want || strings.Contains(out, "more") != (limit == "2") {
					t.Errorf("limit %s: %s", limit, out)
				}
			}
		})
	}
}

// jobAnswer is the output of -o json for a job.
type jobAnswer struct {
	MID      string            `json:"mid"`
	State    string            `json:"state"`
	Attempts int               `json:"attempts"`
	Backoff  int64             `json:"backoff_ms"`
	Lock     int64             `json:"lock_ms"`
	Token    string            `json:"token"`
	Body     *string           `json:"body"`
	Headers  map[string]string `json:"headers"`
}

func TestJobNeedsABroker(t *testing.T) {
	if _, hint := job(t, "redis://127.0.0.1:1", exitcode.Failure, "list"); !strings.Contains(hint, "fiveways serve") {
		t.Errorf("nothing listens there: %s", hint)
	}
	job(t, "http://127.0.0.1:1", exitcode.WrongUsage, "list")
	job(t, "carmine://127.0.0.1:port", exitcode.WrongUsage, "list")
	t.Setenv("FIVEWAYS_REDIS", "off")
	if _, stderr, code := command(t, "job", "list"); code != exitcode.WrongUsage || !strings.Contains(stderr, "--url") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestJobCancel(t *testing.T) {
	broker := jobBroker(t)
	job(t, broker, exitcode.OK, "enqueue", "q", "x", "--id", "a", "--header", "who=me", "--priority", "3", "--expire", "1h")
	for _, look := range []string{"status q a", "list q"} {
		if out, _ := job(t, broker, exitcode.OK, append(strings.Fields(look), "--json")...); !strings.Contains(out, `"priority":3`) {
			t.Errorf("%s: %s", look, out)
		}
		if out, _ := job(t, broker, exitcode.OK, strings.Fields(look)...); !strings.Contains(out, "PRIORITY") {
			t.Errorf("%s: %s", look, out)
		}
	}
	job(t, broker, exitcode.OK, "cancel", "q", "a")
	job(t, broker, exitcode.Failure, "cancel", "q", "a")
	job(t, broker, exitcode.OK, "enqueue", "q", "x", "--id", "b", "--header", "who=me")
	out, _ := job(t, broker, exitcode.OK, "take", "q", "--json")
	var v jobAnswer
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Headers["who"] != "me" {
		t.Errorf("%v, %s", err, out)
	}
	job(t, broker, exitcode.Failure, "cancel", "q", "b")
	job(t, broker, exitcode.OK, "fail", "q", "b", v.Token, "--error", "no good")
	job(t, broker, exitcode.WrongUsage, "enqueue", "q", "x", "--header", "none")
}

func TestMigrateCarmine(t *testing.T) {
	from, to := redisd.Start(t, redisd.Options{}), jobBroker(t)
	for _, id := range []string{"a", "b"} {
		job(t, "carmine://"+from, exitcode.OK, "enqueue", "mail", "body of "+id, "--id", id)
	}
	migrate := func(want int, args ...string) string {
		t.Helper()
		stdout, stderr, code := command(t, append([]string{"migrate", "carmine"}, args...)...)
		if code != want {
			t.Fatalf("%q: exit code %d, %s", args, code, stderr)
		}
		return stdout
	}
	if out := migrate(exitcode.OK, "redis://"+from, "mail", "--dry-run"); !strings.Contains(out, "found 2 queued\n2 jobs and ids would be moved") {
		t.Errorf("dry run: %s", out)
	}
	if out := migrate(exitcode.OK, "redis://"+from, "mail", "--keep", "--to", to, "--as", "copy"); !strings.Contains(out, "2 moved to queue copy") {
		t.Errorf("copy: %s", out)
	}
	if out := migrate(exitcode.OK, "redis://"+from, "mail", "--to", to, "--json"); !strings.Contains(out, `"moved":2,"there":0`) {
		t.Errorf("move: %s", out)
	}
	out, _ := job(t, to, exitcode.OK, "list")
	for _, queue := range []string{"copy", "mail"} {
		if w := wordsOf(t, out, queue); w[1] != "2" {
			t.Errorf("%q", w)
		}
	}
	if out, _ := job(t, "carmine://"+from, exitcode.OK, "list", "--json"); out != "" {
		t.Errorf("left are %s", out)
	}
	migrate(exitcode.WrongUsage, "http://"+from, "mail", "--to", to)
	migrate(exitcode.WrongUsage, "redis://"+from, "mail", "--to", "http://x")
	job(t, "carmine://"+from, exitcode.OK, "enqueue", "mail", "x")
	migrate(exitcode.Failure, "redis://"+from, "mail", "--to", "redis://127.0.0.1:1")
	refused := []string{strings.Replace(to, "guest:guest@", "guest:wrong@", 1), strings.TrimSuffix(to, "/0") + "/nosuch", "redis://" + from}
	for _, to := range refused { // without a login nothing is moved, and nothing is lost
		migrate(exitcode.Failure, "redis://"+from, "mail", "--to", to)
		if out, _ := job(t, "carmine://"+from, exitcode.OK, "list"); strings.Join(wordsOf(t, out, "mail")[1:], " ") != "1 0 0 1" {
			t.Errorf("to %s: left is %s", to, out)
		}
	}
}
