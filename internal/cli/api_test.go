package cli

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
)

// fakeAPI answers every request from answer, and records the last request that changes something as
// "METHOD path body".
type fakeAPI struct {
	*httptest.Server
	answer map[string]string // by path
	last   string
	reason string
}

func newFakeAPI(t *testing.T, answer map[string]string) *fakeAPI {
	t.Helper()
	f := &fakeAPI{answer: answer}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "guest" || password != "guest" {
			t.Errorf("login %s", user)
		}
		at := strings.TrimPrefix(r.URL.EscapedPath(), "/api/")
		if r.Method != http.MethodGet {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			f.last, f.reason = strings.TrimSpace(r.Method+" "+r.RequestURI[len("/api/"):]+" "+string(body)), r.Header.Get("X-Reason")
		}
		answer, ok := f.answer[at]
		switch {
		case ok:
			io.WriteString(w, answer) //nolint:errcheck // the command would fail
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"error":"Object Not Found","reason":"Not Found"}`) //nolint:errcheck // as above
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// TestRequests checks the request that each command sends.
func TestRequests(t *testing.T) {
	bindings := `[{"source":"e","destination":"q","routing_key":"k","arguments":{"n":5},"properties_key":"k~abc"},
		{"source":"e","destination":"q","routing_key":"other","arguments":{},"properties_key":"other"}]`
	api := newFakeAPI(t, map[string]string{"bindings/%2F/e/e/q/q": bindings, "exchanges/%2F/amq.default/publish": `{"routed":true}`,
		"exchanges/%2F/e/publish": `{"routed":true}`, "queues/%2F/q/messages/move": `{"id":"7","state":"running"}`, "queues/%2F/q/redrive": `{"id":"8"}`, "queues/%2F/q/get": `[]`})
	file := filepath.Join(t.TempDir(), "d.json")
	must(t, os.WriteFile(file, []byte(`{"users":[]}`), 0o600))
	for _, tc := range []struct{ args, want string }{
		{"queue add q", `PUT queues/%2F/q {"durable":true,"auto_delete":false,"arguments":{}}`},
		{"queue add a/b --vhost v --transient --argument x-max-length=5 --argument x-overflow=drop-head", `PUT queues/v/a%2Fb {"durable":false,"auto_delete":false,"arguments":{"x-max-length":5,"x-overflow":"drop-head"}}`},
		{"queue delete q --if-unused --if-empty --yes", `DELETE queues/%2F/q?if-empty=true&if-unused=true`},
		{"queue purge q --yes", `DELETE queues/%2F/q/contents`},
		{"queue redrive q --rate 100 --limit 5", `POST queues/%2F/q/redrive {"limit":5,"rate":100}`},
		{"exchange add e topic --internal", `PUT exchanges/%2F/e {"type":"topic","durable":true,"auto_delete":false,"internal":true,"arguments":{}}`},
		{"exchange delete e --yes", `DELETE exchanges/%2F/e`},
		{"binding add e q --routing-key k --argument n=5", `POST bindings/%2F/e/e/q/q {"arguments":{"n":5},"routing_key":"k"}`},
		{"binding add e f --to-exchange", `POST bindings/%2F/e/e/e/f {"arguments":{},"routing_key":""}`},
		{"binding delete e q --routing-key k --argument n=5", `DELETE bindings/%2F/e/e/q/q/k~abc`},
		{"connection close a->b", `DELETE connections/a-%3Eb`},
		{"connection close --user ann", `DELETE connections/username/ann`},
		{`policy set p ^a {"max-length":5} --apply-to queues --priority 2`, `PUT policies/%2F/p {"apply-to":"queues","definition":{"max-length":5},"pattern":"^a","priority":2}`},
		{"operator-policy delete p", `DELETE operator-policies/%2F/p`},
		{`parameter set shovel s {"a":1}`, `PUT parameters/shovel/%2F/s {"component":"shovel","name":"s","value":{"a":1},"vhost":"/"}`},
		{"parameter delete shovel s --vhost v", `DELETE parameters/shovel/v/s`},
		{"definitions import " + file, `POST definitions {"users":[]}`},
		{"definitions import " + file + " --vhost v", `POST definitions/v {"users":[]}`},
		{"message publish q hi --header n=5", `POST exchanges/%2F/amq.default/publish {"payload":"hi","payload_encoding":"string","properties":{"delivery_mode":2,"headers":{"n":5}},"routing_key":"q"}`},
		{"message publish --exchange e --routing-key k hi --transient", `POST exchanges/%2F/e/publish {"payload":"hi","payload_encoding":"string","properties":{"delivery_mode":1},"routing_key":"k"}`},
		{"message get q --count 2 --remove", `POST queues/%2F/q/get {"ackmode":"ack_requeue_false","count":2,"encoding":"auto"}`},
		{"message move q to --filter a=1", `POST queues/%2F/q/messages/move {"to":"to","filter":"a=1"}`},
		{"message move q to 5-7", `POST queues/%2F/q/messages/5-7/move {"to":"to"}`},
		{"message delete q 5-7 --yes", `DELETE queues/%2F/q/messages/5-7`},
		{"task stop 7", `DELETE tasks/7`},
		{"key set /a b", `PUT keys/%2Fa {"value":"b"}`},
		{"key delete /a --yes", `DELETE keys/%2Fa`},
	} {
		api.last = ""
		if _, errs, code := command(t, append(strings.Fields(tc.args), "--url", api.URL)...); code != exitcode.OK || api.last != tc.want {
			t.Errorf("%s: exit code %d, %s\nasked %s\nwant  %s", tc.args, code, errs, api.last, tc.want)
		}
	}
	command(t, "connection", "close", "a", "--reason", "moved", "--url", api.URL)
	if api.reason != "moved" {
		t.Errorf("reason %q", api.reason)
	}
	if _, errs, code := command(t, "binding", "delete", "e", "q", "--routing-key", "none", "--url", api.URL); code != exitcode.Failure || !strings.Contains(errs, "no binding from 'e' to 'q'") {
		t.Errorf("a binding that is not there: exit code %d, %s", code, errs)
	}
}

const someQueues = `[{"vhost":"/","name":"b","messages_ready":9,"messages_unacknowledged":0,"consumers":1,"activity":"running","x":{"y":true},
		"message_stats":{"publish_details":{"rate":1234.5},"deliver_get_details":{"rate":0.25}}},
	{"vhost":"/","name":"a\u001b[31m","messages_ready":10,"messages_unacknowledged":12345678901234567890,"consumers":0,"activity":"running"}]`

func TestLists(t *testing.T) {
	api := newFakeAPI(t, map[string]string{"queues": someQueues, "queues/v": "[]"})
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"table":          {nil, "VHOST  NAME    READY                     UNACKED       IN    OUT  CONSUMERS  ACTIVITY  POLICY\n/      b           9                           0  1,234/s  0.2/s          1  running\n/      a\ufffd[31m     10  12,345,678,901,234,567,890                          0  running\n"},
		"by number":      {[]string{"--sort", "messages_ready", "--reverse", "--columns", "name,messages_ready"}, "NAME    MESSAGES READY\na\ufffd[31m              10\nb                    9\n"},
		"sorted by more": {[]string{"--sort", "x.y", "--match", "^b"}, "VHOST  NAME  READY  UNACKED       IN    OUT  CONSUMERS  ACTIVITY  POLICY  X.Y\n/      b         9        0  1,234/s  0.2/s          1  running           yes\n"},
		"short names":    {[]string{"--sort", "ready", "--columns", "name,out"}, "NAME      OUT\nb       0.2/s\na\ufffd[31m\n"},
		"match":          {[]string{"--match", "^b", "--columns", "name,x.y"}, "NAME  X.Y\nb     yes\n"},
		"match a name":   {[]string{"--match", "^b"}, "VHOST  NAME  READY  UNACKED       IN    OUT  CONSUMERS  ACTIVITY  POLICY\n/      b         9        0  1,234/s  0.2/s          1  running\n"},
		"hidden name":    {[]string{"--match", "^b", "--columns", "consumers"}, "CONSUMERS\n        1\n"},
		"one vhost":      {[]string{"--vhost", "v", "--columns", "name"}, "NAME\n"},
		"empty JSON":     {[]string{"--vhost", "v", "-o", "json"}, "[]\n"},
		"JSON in all":    {[]string{"-o", "json", "--match", "x"}, "[]\n"},
	} {
		if out, errs, code := command(t, append([]string{"queue", "list", "--url", api.URL}, tc.args...)...); code != exitcode.OK || out != tc.want {
			t.Errorf("%s: exit code %d, %s\n%s\nwant\n%s", name, code, errs, out, tc.want)
		}
	}
	out, _, _ := command(t, "queue", "list", "--url", api.URL, "-o", "json")
	var back []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &back); err != nil || len(back) != 2 || string(back[1]["messages_unacknowledged"]) != "12345678901234567890" {
		t.Errorf("JSON: %v, %s", err, out)
	}
	for _, args := range [][]string{{"queue", "lst"}, {"queue", "list", "-o", "xml"}, {"queue", "list", "--match", "("}, {"connection", "close"}, {"policy", "set", "p", ".*", "{"}, {"parameter", "list", "--vhost", "v"}, {"parameter", "set", "shovel", "s", "{"}} {
		if _, errs, code := command(t, append(args, "--url", api.URL)...); code != exitcode.WrongUsage {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
	if _, errs, _ := command(t, "queue", "lst"); !strings.Contains(errs, "did you mean list?") {
		t.Errorf("a word that is nearly right: %s", errs)
	}
}

func TestShowAndExport(t *testing.T) {
	api := newFakeAPI(t, map[string]string{"queues/%2F/q": `{"name":"q","arguments":{"x-max-length":5},"messages":3}`, "definitions": `{"users":[{"name":"a<b"}]}`})
	if out, _, code := command(t, "queue", "show", "q", "--url", api.URL); code != exitcode.OK || out != "MEMBER                  VALUE\narguments.x-max-length  5\nmessages                3\nname                    q\n" {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, tc := range []struct{ args, want string }{
		{"queue show none", "no queue 'none' in vhost '/'; `fiveways queue list` shows"},
		{"queue show a/b --vhost v", "no queue 'a/b' in vhost 'v'"},
		{"connection show a->b", "no connection 'a->b'; `fiveways connection list`"},
		{"key get /a", "no key '/a'"},
		{"overview", "the broker does not have /api/overview"},
	} {
		if _, errs, code := command(t, append(strings.Fields(tc.args), "--url", api.URL)...); code != exitcode.Failure || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: exit code %d, %s", tc.args, code, errs)
		}
	}
	file := filepath.Join(t.TempDir(), "d.json")
	if _, errs, code := command(t, "definitions", "export", file, "--url", api.URL); code != exitcode.OK {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	got, err := os.ReadFile(file)
	info, statErr := os.Stat(file)
	if err != nil || statErr != nil || !strings.Contains(string(got), `"a<b"`) || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, %s", err, statErr, got)
	}
}

// TestHTTPS checks that a broker behind TLS is reached with the certificate authority of its
// certificate, and not without.
func TestHTTPS(t *testing.T) {
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "[]") })) //nolint:errcheck // the command would fail
	api.Config.ErrorLog = log.New(io.Discard, "", 0)
	api.StartTLS()
	defer api.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}), 0o600))
	if _, errs, code := command(t, "queue", "list", "--url", api.URL, "--ca", ca); code != exitcode.OK {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if _, errs, code := command(t, "queue", "list", "--url", api.URL); code != exitcode.Failure || !strings.Contains(errs, "--ca") {
		t.Errorf("without the certificate: exit code %d, %s", code, errs)
	}
	if _, _, code := command(t, "queue", "list", "--url", "http://127.0.0.1:1", "--ca", ca); code != exitcode.WrongUsage {
		t.Errorf("a certificate without TLS: exit code %d", code)
	}
}
