package definitions

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

func openAPI(t *testing.T, log *slog.Logger, o Options) (*broker.Broker, *rest.API) {
	t.Helper()
	b := resttest.OpenBroker(t)
	a := rest.New(b, rest.Options{Log: log})
	Register(a, o)
	return b, a
}

func call(t *testing.T, h http.Handler, method, path, body string, want int) string {
	t.Helper()
	status, got := resttest.Request(t, h, method+" "+path+" "+body)
	if status != want {
		t.Fatalf("%s %s: %d %s", method, path, status, got)
	}
	return got
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// entries returns the lists of a file by name, each as the sorted texts of its entries.
func entries(t *testing.T, file string) map[string][]string {
	t.Helper()
	var lists map[string]json.RawMessage
	if err := json.Unmarshal([]byte(file), &lists); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for name, list := range lists {
		var things []map[string]any
		if json.Unmarshal(list, &things) != nil {
			continue
		}
		for _, thing := range things {
			text, err := json.Marshal(thing)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = append(out[name], string(text))
		}
		slices.Sort(out[name])
	}
	return out
}

// lacks returns the entries of one file that the other lacks.
func lacks(t *testing.T, one, other string) (missing []string) {
	t.Helper()
	a, b := entries(t, one), entries(t, other)
	for _, name := range slices.Sorted(maps.Keys(a)) {
		for _, entry := range a[name] {
			if !slices.Contains(b[name], entry) {
				missing = append(missing, name+" "+entry)
			}
		}
	}
	return missing
}

// A file written by RabbitMQ 3.10 is exported unchanged after its import.
func TestFileOfRabbitMQ3(t *testing.T) {
	file := read(t, "rabbitmq-3.10.json")
	b, a := openAPI(t, resttest.Quiet, Options{Product: "Fiveways", Version: "1.2.3"})
	call(t, a, "POST", "/api/definitions", file, 204)
	call(t, a, "POST", "/api/definitions", file, 204) // a second import changes nothing
	out := call(t, a, "GET", "/api/definitions", "", 200)
	for _, s := range []string{`"loopback_only":false,`, `,"loopback_only":true`} {
		out = strings.ReplaceAll(out, s, "")
	}
	var missing []string
	for _, entry := range lacks(t, file, out) {
		switch {
		case strings.HasPrefix(entry, "vhosts "): // ours have more fields
		case strings.HasPrefix(entry, "users "): // likewise, loopback_only
		default:
			missing = append(missing, entry)
		}
	}
	if len(missing) > 0 {
		t.Errorf("not there any more:\n%s", strings.Join(missing, "\n"))
	}
	if err := b.Authenticate("ada", "ada-1", false); err != nil {
		t.Errorf("a user of RabbitMQ cannot log in: %v", err)
	}
	if v, err := b.VHost("shop"); err != nil || v.Limits["max-queues"] != 100 {
		t.Errorf("the limits of a virtual host are %v, %v", v.Limits, err)
	}
}

// An export makes another broker equal.
func TestRoundTrip(t *testing.T) {
	_, a := openAPI(t, resttest.Quiet, Options{Version: "1"})
	call(t, a, "POST", "/api/definitions", read(t, "rabbitmq-3.10.json"), 204)
	call(t, a, "POST", "/api/definitions", read(t, "rabbitmq-4.1.json"), 204)
	first := call(t, a, "GET", "/api/definitions", "", 200)
	_, other := openAPI(t, resttest.Quiet, Options{Version: "1"})
	call(t, other, "POST", "/api/definitions", first, 204)
	if second := call(t, other, "GET", "/api/definitions", "", 200); second != first {
		t.Errorf("it went in as\n%s\nand came out as\n%s", first, second)
	}
}

func TestFileOfRabbitMQ4(t *testing.T) {
	var log strings.Builder
	b, a := openAPI(t, slog.New(slog.NewTextHandler(&log, nil)), Options{})
	call(t, a, "POST", "/api/definitions", read(t, "rabbitmq-4.1.json"), 204)
	out := call(t, a, "GET", "/api/definitions/new", "", 200)
	for _, want := range []string{
		`{"name":"q1","durable":true,"auto_delete":false,"arguments":{"x-delivery-limit":-1,"x-queue-type":"quorum","x-quorum-initial-group-size":3}}`,
		`{"name":"s1","durable":true,"auto_delete":false,"arguments":{"x-initial-cluster-size":3,"x-queue-leader-locator":"balanced","x-queue-type":"stream"}}`,
		`{"name":"mqtt","durable":true,"auto_delete":false,"arguments":{}}`,
		`"bindings":[{"source":"hash","destination":"q1","destination_type":"queue","routing_key":"2","arguments":{}}]`,
		`{"value":{"max-connections":50,"max-queues":7},"vhost":"new","component":"vhost-limits","name":"limits"}`,
		`"policies":[{"vhost":"new","name":"p","pattern":"^p","apply-to":"quorum_queues","definition":{"delivery-limit":5},"priority":1}]`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
	for _, want := range []string{`destination="was exclusive"`, "component=some-plugin", "queue=mqtt"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not tell of %s:\n%s", want, log.String())
		}
	}
	if v, err := b.VHost("new"); err != nil || v.Description != "by metadata" || v.DefaultQueueType != "quorum" {
		t.Errorf("the virtual host is %+v, %v", v, err)
	}
	if err := b.Authenticate("plain", "in clear", false); err != nil {
		t.Errorf("a user with a password in clear: %v", err)
	}
}

func TestOneVirtualHost(t *testing.T) {
	b, a := openAPI(t, resttest.Quiet, Options{})
	file := read(t, "rabbitmq-3.10-vhost.json")
	call(t, a, "POST", "/api/definitions/none", file, 404)
	if _, err := b.PutVHost(catalog.VHostSpec{Name: "copy"}); err != nil {
		t.Fatal(err)
	}
	call(t, a, "POST", "/api/definitions/copy", file, 204)
	out := call(t, a, "GET", "/api/definitions/copy", "", 200)
	if missing := lacks(t, strings.ReplaceAll(file, `"vhost": "shop"`, `"vhost": "copy"`), out); len(missing) > 0 {
		t.Errorf("not there:\n%s", strings.Join(missing, "\n"))
	}
	call(t, a, "POST", "/api/definitions/copy", `{"users":[{"name":"mallory","password":"x"}],"queues":[{"name":"here","vhost":"/"}]}`, 204)
	if _, err := b.User("mallory"); !errors.Is(err, failure.ErrUserNotFound) {
		t.Error("the file of one virtual host has made a user")
	}
	if out := call(t, a, "GET", "/api/definitions/%2F", "", 200); strings.Contains(out, "here") {
		t.Error("the file of one virtual host has reached another")
	}
}

// Invalid definitions are refused, and nothing of their virtual host is created.
func TestRefused(t *testing.T) {
	_, a := openAPI(t, resttest.Quiet, Options{CheckPolicy: func(name string, operator bool, _ json.RawMessage) error {
		return rest.BadRequest("Validation failed: " + name)
	}})
	for file, want := range map[string]string{
		"":              "failed_to_parse_json: EOF",
		"[1]":           "failed_to_parse_json: the body takes an object, not a JSON array",
		`{"users":`:     "failed_to_parse_json: unexpected EOF",
		`{"users":"a"}`: "the body is not the JSON object expected here",
		`{"users":[{"name":"u","password_hash":"!"}]}`:                                                                      "invalid password",
		`{"permissions":[{"user":"nobody","vhost":"/"}]}`:                                                                   "no such user",
		`{"queues":[{"name":"a","vhost":"/"},{"name":"b","vhost":"/","arguments":{"x-max-length":-1}}]}`:                    "invalid arg 'x-max-length' for queue 'b' in vhost '/': {value_negative,-1}",
		`{"queues":[{"name":"a","vhost":"/"}],"exchanges":[{"name":"x","vhost":"/","type":"x-jms-topic"}]}`:                 "unknown exchange type 'x-jms-topic'",
		`{"queues":[{"name":"a","vhost":"none"}]}`:                                                                          "no such virtual host",
		`{"policies":[{"name":"p","vhost":"/","pattern":"x","definition":{}}]}`:                                             "Validation failed: p",
		`{"parameters":[{"name":"o","vhost":"/","component":"operator_policy","value":{}}]}`:                                "Validation failed: o",
		`{"parameters":[{"name":"s","vhost":"/","component":"shovel","value":{"src-uri":"amqp://","dest-uri":"amqp://"}}]}`: "Must specify 'src-exchange' or 'src-queue'",
		`{"vhosts":[{"name":"v","limits":{"max-dreams":1}}]}`:                                                               "unknown limit",
		`{"parameters":[{"name":"limits","vhost":"/","component":"vhost-limits","value":{"max-queues":"many"}}]}`:           "limits must be an object of numbers",
	} {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest("POST", "/api/definitions", strings.NewReader(file)))
		if w.Code < 400 || w.Code >= 500 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s; want %s", file, w.Code, w.Body, want)
		}
	}
	if out := call(t, a, "GET", "/api/definitions/%2F", "", 200); !strings.Contains(out, `"queues":[]`) {
		t.Errorf("a file that was refused has made %s", out)
	}
}

// TestCheck checks that what is wrong with a file itself is found without a broker, and that a file
// that fits some broker is not refused.
func TestCheck(t *testing.T) {
	o := Options{CheckPolicy: func(name string, _ bool, _ json.RawMessage) error {
		if name == "wrong" {
			return rest.BadRequest("Validation failed: " + name)
		}
		return nil
	}}
	for file, want := range map[string]string{
		"":              "not_json",
		`{"users":"a"}`: "the body is not the JSON object expected here",
		`{"queues":[{"name":"q","vhost":"/","arguments":{"x-max-length":-1}}]}`:                                             "invalid arg 'x-max-length' for queue 'q' in vhost '/': {value_negative,-1}",
		`{"exchanges":[{"name":"x","vhost":"/","type":"direct","arguments":{"alternate-exchange":5}}]}`:                     "invalid type 'long' for arg 'alternate-exchange' in exchange 'x' in vhost '/'",
		`{"policies":[{"name":"wrong","vhost":"/","pattern":"x","definition":{}}]}`:                                         "Validation failed: wrong",
		`{"parameters":[{"name":"wrong","vhost":"/","component":"operator_policy","value":{}}]}`:                            "Validation failed: wrong",
		`{"parameters":[{"name":"s","vhost":"/","component":"shovel","value":{"src-uri":"amqp://","dest-uri":"amqp://"}}]}`: "Must specify 'src-exchange' or 'src-queue'",
		`{"parameters":[{"name":"limits","vhost":"/","component":"vhost-limits","value":{"max-queues":"many"}}]}`:           "limits must be an object of numbers",
	} {
		if err := Check([]byte(file), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", file, err, want)
		}
	}
	for _, file := range []string{
		read(t, "rabbitmq-3.10.json"), `{"permissions":[{"user":"nobody","vhost":"none"}],"queues":[{"name":"q","vhost":"none","arguments":{"x-queue-type":"mqtt"}}]}`,
		`{"parameters":[{"name":"p","vhost":"/","component":"unknown","value":5}],"policies":[{"name":"p","vhost":"none","pattern":"x","definition":{}}]}`,
	} {
		if err := Check([]byte(file), o); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A browser uploads the file in a form, and downloads one under a name.
func TestBrowser(t *testing.T) {
	_, a := openAPI(t, resttest.Quiet, Options{})
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("other", "x"); err != nil {
		t.Fatal(err)
	}
	part, err := form.CreateFormFile("file", "definitions.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(`{"queues":[{"name":"uploaded","vhost":"/","durable":true}]}`)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/api/definitions", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code != http.StatusNoContent {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/api/definitions?download=my%20broker.json", nil))
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="my broker.json"` || !strings.Contains(w.Body.String(), "uploaded") {
		t.Errorf("%s %s", got, w.Body)
	}
}

// timed is a writer that records the deadline of its answer.
type timed struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (w *timed) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

// Passwords are hashed slowly: with a thousand of them an import takes about a minute, which is the
// timeout of other answers.
func TestImportMayTakeLong(t *testing.T) {
	_, a := openAPI(t, resttest.Quiet, Options{})
	w := &timed{ResponseRecorder: httptest.NewRecorder()}
	a.ServeHTTP(w, httptest.NewRequest("POST", "/api/definitions", strings.NewReader(`{"users":[{"name":"alice","password":"secret","tags":""}]}`)))
	if left := time.Until(w.deadline); w.Code != http.StatusNoContent || left < 30*time.Minute {
		t.Errorf("%d %s, written within %v", w.Code, w.Body, left)
	}
}
