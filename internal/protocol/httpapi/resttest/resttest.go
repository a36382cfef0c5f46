// Package resttest holds what tests of the HTTP API's paths share: a broker in memory, requests
// written as one line, and scripts of requests with the answers expected of them. It is for tests
// only.
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

// Quiet discards the log.
var Quiet = slog.New(slog.DiscardHandler)

// Open opens a broker on a file system, which enginetest.Close closes. Each of more changes its
// options before.
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

// OpenBroker opens a broker in memory, as Open does. It is closed at the end of the test.
func OpenBroker(t testing.TB, more ...func(*broker.Options)) *broker.Broker {
	t.Helper()
	b := Open(t, vfs.NewMem(), more...)
	t.Cleanup(func() { enginetest.Close(t, b) })
	return b
}

// Operate is a session that may do everything in the virtual host /, until the end of the test.
func Operate(t testing.TB, b *broker.Broker) *broker.Session {
	t.Helper()
	s, err := b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Declare declares a durable queue. Each of more changes what it is before.
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

// Request has h answer a request written as "PUT /api/x {...}". An answer with a body must be JSON
// and, when h is an API itself, what its document promises.
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

// Step is one request and what must come of it. The type has no name of its own so that scripts may
// leave out those of its fields.
type Step = struct {
	Request string // as Request takes it
	Status  int
	Want    string // the answer holds this text
}

// Play makes the requests of a script one after the other.
func Play(t testing.TB, h http.Handler, script []Step) {
	t.Helper()
	for _, s := range script {
		if status, got := Request(t, h, s.Request); status != s.Status || !strings.Contains(got, s.Want) {
			t.Errorf("%.300s:\n got %d %s\nwant %d with %s", s.Request, status, got, s.Status, s.Want)
		}
	}
}

// As has h answer for a user whose password is its name.
func As(h http.Handler, user string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.SetBasicAuth(user, user)
		h.ServeHTTP(w, r)
	})
}

// AddUser makes a user whose password is its name. It may do everything in the virtual host, if one
// is given.
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
