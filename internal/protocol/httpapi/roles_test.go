package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

// roles are a request without a user, a user without a tag, and users with one tag.
var roles = []string{"", "user", "management", "policymaker", "monitoring", "administrator"}

// admitted lists for each need the roles that satisfy it. The table is written out because it is
// what users are promised.
var admitted = map[rest.Need][]string{
	rest.Anyone:         roles,
	rest.Login:          roles[1:],
	rest.Management:     {"management", "policymaker", "monitoring", "administrator"},
	rest.Policymaking:   {"policymaker", "administrator"},
	rest.Monitoring:     {"monitoring", "administrator"},
	rest.Administration: {"administrator"},
}

// tagRefusals are the errors for callers without the required tag.
var tagRefusals = []string{
	"Login needed", "Login failed", "Not management user", "Not monitor user", "Not administrator user", "User not authorised to access object",
	"User not authorised to access virtual host",
}

// ofOthers reports whether a caller that may use a path is refused in this test because the path is
// about connections of others.
func ofOthers(pattern, reason string) bool {
	return strings.Contains(pattern, "/connections/username/") && reason == "User not authorised to access object"
}

// failed is the body of a failed health check.
type failed struct {
	Refusal
	Status string `json:"status"`
}

// says reports whether a body gives a reason.
func (f *failed) says() bool { return f.Reason != "" && (f.Error != "" || f.Status == "failed") }

// withRoles creates a user for each role, with all permissions. The passwords are the names, with a
// cheap hash.
func withRoles(t *testing.T) *broker.Broker {
	t.Helper()
	b := resttest.OpenBroker(t)
	for _, role := range roles[1:] {
		sum := sha256.Sum256([]byte("salt" + role))
		spec := catalog.UserSpec{Name: role, Algorithm: access.RabbitSHA256, Hash: base64.StdEncoding.EncodeToString(append([]byte("salt"), sum[:]...))}
		if role != "user" {
			spec.Tags = []string{role}
		}
		if _, err := b.PutUser(spec); err != nil {
			t.Fatal(err)
		}
		if _, err := b.SetPermission(catalog.Permission{User: role, VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

var wildcard = regexp.MustCompile(`\{[^}]*\}`)

// pathOf returns a method and a path that match a pattern.
func pathOf(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	path = wildcard.ReplaceAllStringFunc(path, func(w string) string {
		switch w {
		case "{vhost}":
			return "%2F"
		case "{$}":
			return ""
		}
		return "nothing"
	})
	if strings.HasPrefix(path, "/debug/pprof/") {
		path += "?seconds=1"
	}
	return method, path
}

// TestEveryRouteForEveryRole calls every path as every role. A role without the required tag gets
// the error for that and nothing happens; any other role gets a different answer.
func TestEveryRouteForEveryRole(t *testing.T) {
	for _, route := range New(resttest.OpenBroker(t), Options{}).Routes() {
		t.Run(route.Pattern, func(t *testing.T) {
			t.Parallel()
			n := serve(t, withRoles(t), Options{}, ServerOptions{})
			method, path := pathOf(route.Pattern)
			for _, role := range roles {
				login := ""
				if role != "" {
					login = role + ":" + role
				}
				status, reason := call(t, n, method, path, login)
				refused := status == http.StatusUnauthorized && slices.Contains(tagRefusals, reason) && !ofOthers(route.Pattern, reason)
				if may := slices.Contains(admitted[route.Need], role); may == refused {
					t.Errorf("as %q: %d %s", role, status, reason)
				}
				if !refused && status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable && status != http.StatusNotImplemented {
					t.Errorf("as %q: %d %s", role, status, reason)
				}
			}
		})
	}
}

// call sends a request and reads only the beginning of the answer, because some never end.
func call(t *testing.T, n *node, method, path, login string) (status int, reason string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if name, password, ok := strings.Cut(login, ":"); ok {
		r.SetBasicAuth(name, password)
	}
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer w.Body.Close()
	if w.StatusCode < http.StatusBadRequest {
		return w.StatusCode, ""
	}
	var refusal failed
	if err := json.NewDecoder(w.Body).Decode(&refusal); err != nil || !refusal.says() {
		t.Errorf("%s %s: %d without a reason: %v", method, path, w.StatusCode, err)
	}
	return w.StatusCode, refusal.Reason
}

// Every need of a route is in the table; otherwise the test above would not cover it.
func TestNeedsAreKnown(t *testing.T) {
	for _, route := range New(resttest.OpenBroker(t), Options{}).Routes() {
		if _, ok := admitted[route.Need]; !ok {
			t.Errorf("%s needs %v", route.Pattern, route.Need)
		}
		if route.Need == rest.Anyone && !strings.HasPrefix(route.Pattern, "GET ") {
			t.Errorf("%s is a change that anybody may make", route.Pattern)
		}
	}
}

// bodies are request bodies of faulty clients.
var bodies = []string{
	"", "{}", "[]", "null", "1", `"x"`, "{", `{"a":`, "\x00\xff", `{"name":null}`, `[{"name":1}]`, `{"arguments":{"x-message-ttl":"soon"}}`,
	`{"arguments":[]}`, `{"tags":{}}`, `{"password":5}`, `{"value":-1}`, `{"value":1e400}`, `{"count":-1}`, `{"payload":{},"properties":[]}`,
	strings.Repeat("[", 20_000), `{"vhosts":[{"name":""}]}`, `{"queues":[{"name":"q","vhost":"none"}]}`, `{"type":"none","durable":"maybe"}`, `{"source":"","destination_type":"x"}`,
}

// names are names that faulty clients put into paths.
var names = []string{"%2F", "nothing", "%00", "..", "%2E%2E", "%FF", "%E2%80%AE", "a%2Fb", "~", "amq.direct", "amq.default", "guest", "-1", strings.Repeat("x", 300), "*", "%5B", "(%3F%3C"}

// queries are the query strings of faulty clients.
var queries = []string{"", "page=0", "page=1&page_size=501", "page=x", "sort=..", "name=(&use_regex=true", "columns=,,.a", "limit=-1", "lengths_age=1&lengths_incr=0", "after=%FF", "wait=forever", "lengths_age=99999999999999&lengths_incr=1"}

// TestAnyBodyAnyPath sends nonsense to every path as an administrator. There is no internal error,
// and every answer is JSON.
func TestAnyBodyAnyPath(t *testing.T) {
	b := resttest.OpenBroker(t)
	a := New(b, Options{LoginDelay: -1})
	n := serve(t, b, Options{}, ServerOptions{})
	r := rand.New(rand.NewPCG(1, 2))
	for _, route := range a.Routes() {
		if strings.Contains(route.Pattern, "/debug/pprof/") {
			continue // Go's profiles, which are slow
		}
		for range 40 {
			method, path, _ := strings.Cut(route.Pattern, " ")
			path = wildcard.ReplaceAllStringFunc(path, func(w string) string {
				if w == "{$}" {
					return ""
				}
				return names[r.IntN(len(names))]
			})
			if method == http.MethodDelete && (strings.HasPrefix(path, "/api/users/guest") || strings.HasPrefix(path, "/api/permissions/%2F/guest")) ||
				method == http.MethodPut && strings.HasPrefix(path, "/api/users/guest") {
				continue // whoami
			}
			nonsense(t, n, method, path+"?"+queries[r.IntN(len(queries))], bodies[r.IntN(len(bodies))])
		}
	}
}

func nonsense(t *testing.T, n *node, method, path, body string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, strings.NewReader(body))
	if err != nil {
		return // no client can send this
	}
	r.SetBasicAuth("guest", "guest")
	w, err := http.DefaultTransport.RoundTrip(r)
	what := fmt.Sprintf("%s %s %.60q", method, path, body)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer w.Body.Close()
	if w.StatusCode == http.StatusInternalServerError {
		t.Errorf("%s: %s", what, w.Status)
	}
	if w.StatusCode < http.StatusBadRequest {
		return
	}
	got, err := io.ReadAll(w.Body)
	var refusal failed
	if err != nil || json.Unmarshal(got, &refusal) != nil || !refusal.says() {
		t.Errorf("%s: %d %.200s", what, w.StatusCode, got)
	}
}
