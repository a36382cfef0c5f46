// Package resttest contains helpers shared by the tests of the HTTP API's paths: a broker in
// memory, requests written as one line, and scripts of requests with the expected answers. It is
// for tests only.
package resttest

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Quiet is a logger that discards everything.
var Quiet = slog.New(slog.DiscardHandler)

// Open opens a broker on a file system; enginetest.Close closes it. Each function in more changes
// the options first.
func Open(t testing.TB, fs vfs.FS, more ...func(*broker.Options)) *broker.Broker {
	t.Helper()
	o := broker.Options{Logger: Quiet, DiskFreeLimit: -1, Policies: policies.Engine{}}
	for _, change := range more {
		change(&o)
	}
	b := enginetest.Open(t, fs, func(to *broker.Options) { *to = o })
	jobs.Resume(b)
	return b
}

// OpenBroker opens a broker in memory, like Open, and closes it at the end of the test.
func OpenBroker(t testing.TB, more ...func(*broker.Options)) *broker.Broker {
	t.Helper()
	b := Open(t, vfs.NewMem(), more...)
	t.Cleanup(func() { enginetest.Close(t, b) })
	return b
}

// Operate returns a session with all permissions in the virtual host /. It is closed at the end of
// the test.
func Operate(t testing.TB, b *broker.Broker) *broker.Session {
	t.Helper()
	s, err := b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Declare declares a durable queue. Each function in more changes its properties first.
func Declare(t testing.TB, s *broker.Session, name string, more ...func(*catalog.QueueSpec)) {
	t.Helper()
	spec := catalog.QueueSpec{Name: name, Durable: true, Policy: catalog.DefaultQueuePolicy()}
	for _, change := range more {
		change(&spec)
	}
	if _, err := s.DeclareQueue(spec); err != nil {
		t.Fatal(err)
	}
}

// Request sends h a request written as "PUT /api/x {...}". The body of the answer must be JSON and,
// if h is an API itself, match its document.
func Request(t testing.TB, h http.Handler, line string) (status int, body string) {
	t.Helper()
	method, rest, _ := strings.Cut(line, " ")
	target, in, _ := strings.Cut(rest, " ")
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, strings.NewReader(in))
	h.ServeHTTP(w, r)
	body = w.Body.String()
	if body != "" && !json.Valid([]byte(body)) {
		t.Errorf("%s: the answer is no JSON: %s", line, body)
	}
	if a, ok := h.(Documented); ok {
		CheckReply(t, a, r, w.Code, body)
	}
	return w.Code, body
}

// Step is one request and the expected answer. The type is an alias of an unnamed type, so that
// scripts may leave out the names of its fields.
type Step = struct {
	Request string // in the form of Request
	Status  int
	Want    string // the answer contains this text
}

// Play sends the requests of a script one after the other and checks the answers.
func Play(t testing.TB, h http.Handler, script []Step) {
	t.Helper()
	for _, s := range script {
		if status, got := Request(t, h, s.Request); status != s.Status || !strings.Contains(got, s.Want) {
			t.Errorf("%.300s:\n got %d %s\nwant %d with %s", s.Request, status, got, s.Status, s.Want)
		}
	}
}

// As returns a handler that logs in to h as a user whose password is its name.
func As(h http.Handler, user string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.SetBasicAuth(user, user)
		h.ServeHTTP(w, r)
	})
}

// AddUser creates a user whose password is its name. If vhost is not "", the user gets all
// permissions in it.
func AddUser(t testing.TB, b *broker.Broker, name, vhost string, tags ...string) {
	t.Helper()
	if _, err := b.PutUser(catalog.UserSpec{Name: name, Password: name, Tags: tags}); err != nil {
		t.Fatal(err)
	}
	if vhost == "" {
		return
	}
	if _, err := b.SetPermission(catalog.Permission{User: name, VHost: vhost, Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
}
