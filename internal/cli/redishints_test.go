package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/test/redisd"
)

// TestWrongServers checks that for each problem with the server or the connection the error has a
// hint.
func TestWrongServers(t *testing.T) {
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), AMQP: "127.0.0.1:0", Redis: "127.0.0.1:0"})
	must(t, err)
	t.Cleanup(func() { b.Stop(context.Background()) }) //nolint:errcheck // nothing is to be kept
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	foreign, web := redisd.Start(t, redisd.Options{}), page.Listener.Addr().String()
	ours, amqp := hostOf(t, b.RedisURL()), hostOf(t, b.AMQPURL())
	for server, hint := range map[string]string{
		"redis://127.0.0.1:1":             "fiveways serve",
		"redis://127.0.0.1:99999":         "65535",
		"redis://" + amqp:                 "6380",
		"redis://" + web:                  "6380",
		"redis://" + foreign:              "carmine://",
		"redis://guest:wrong@" + ours:     "user:password@",
		"redis://" + ours + "/nosuch":     "fiveways vhost list",
		"redis://" + ours + "/7":          "fiveways vhost list",
		"rediss://" + ours:                "not rediss://",
		"carmine://" + ours:               "6379",
		"carmine://user:wrong@" + foreign: "user:password@",
		"carmine://127.0.0.1:1":           "Is the server running",
	} {
		if _, stderr := job(t, server, exitcode.Failure, "enqueue", "q", "x"); !strings.Contains(stderr[strings.IndexByte(stderr, '\n'):], hint) {
			t.Errorf("%s: %s", server, stderr)
		}
	}
	if _, stderr := job(t, ours, exitcode.WrongUsage, "list"); !strings.Contains(stderr, "redis://user:password@host") {
		t.Errorf("no scheme: %s", stderr)
	}
	for _, args := range [][]string{{"bench", "jobs", "redis://" + amqp, "--duration", "1ms"}, {"migrate", "carmine", "redis://" + ours, "q"}} {
		if stdout, stderr, code := command(t, args...); code != exitcode.Failure || stdout != "" || strings.Count(stderr, "\n") < 2 {
			t.Errorf("%v: %d, %s%s", args, code, stdout, stderr)
		}
	}
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	return u.Host
}

// TestWrongNumbers checks that invalid numbers are rejected before anything is done.
func TestWrongNumbers(t *testing.T) {
	server := jobBroker(t)
	for _, line := range []string{
		"enqueue q x --priority 256", "enqueue q x --priority -1", "enqueue q x --lock -1s", "enqueue q x --backoff -1s", "enqueue q x --expire -1s",
		"enqueue q x --lock 5", "take q --count 0", "take q --lock -1s", "take q --wait -1s", "done q m t --backoff -1s", "retry q m t --backoff -1s",
		"extend q m t --lock 0s", "list --limit 0", "nosuch", "enqueue q", "done q m",
	} {
		if _, stderr := job(t, server, exitcode.WrongUsage, strings.Fields(line)...); !strings.Contains(stderr, "--help") {
			t.Errorf("%s: %s", line, stderr)
		}
	}
	for line, want := range map[string]string{"take q": "no job is ready\n", "list": "no queue has jobs\n", "list q": "no jobs\n"} {
		if out, _ := job(t, server, exitcode.OK, strings.Fields(line)...); out != want {
			t.Errorf("%s: %q", line, out)
		}
	}
	for _, group := range []string{"user", "vhost", "permission", "message", "migrate", "bench", "sql"} {
		if _, _, code := command(t, group, "nosuch"); code != exitcode.WrongUsage {
			t.Errorf("%s nosuch: %d", group, code)
		}
	}
}
