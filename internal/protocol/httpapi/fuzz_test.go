package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// openAll opens a broker with semaphores and keys, and its API.
func openAll(t testing.TB) (*broker.Broker, *API) {
	t.Helper()
	sems := semaphores.New(semaphores.Options{Logger: resttest.Quiet})
	keys := keyspace.New(keyspace.Options{Folder: t.TempDir()})
	b := resttest.Open(t, vfs.NewMem(), func(o *broker.Options) {
		o.StateMachines = protocoltest.Machines(sems, keys)
	})
	t.Cleanup(func() {
		sems.Stop()
		keys.Stop()
		enginetest.Close(t, b)
		if err := keys.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(sems.Start(b), keys.Start(b.StateMachine(statemachine.Keys))); err != nil {
		t.Fatal(err)
	}
	return b, New(b, Options{Semaphores: sems, Keys: keys, Log: resttest.Quiet})
}

// furnish creates one object of each kind in the virtual host /, unless it exists, so that requests
// find something.
func furnish(t testing.TB, b *broker.Broker, a *API) {
	t.Helper()
	if s, err := b.Operate("/"); err == nil {
		there := s.HasQueue("q") && s.HasExchange("x")
		s.Close()
		if there {
			return
		}
	}
	for _, line := range []string{
		"PUT /api/vhosts/%2F", `PUT /api/queues/%2F/q {"durable":true}`, "PUT /api/exchanges/%2F/x", "POST /api/bindings/%2F/e/x/q/q",
		`POST /api/queues/%2F/q/messages {"payload":"m"}`, `POST /api/jobs/%2F/q {"id":"q","payload":"m"}`, "PUT /api/semaphores/%2F/q",
		`PUT /api/semaphores/%2F/q/tasks/q {"priority":1}`, `PUT /api/keys/q {"value":"v"}`, `PUT /api/users/q {"tags":"management"}`,
	} {
		if status, got := resttest.Request(t, a, line); status >= http.StatusInternalServerError {
			t.Fatalf("%s: %d %s", line, status, got)
		}
	}
}

// FuzzRequests sends fuzzed requests to every path. There is no internal error, and waiting
// handlers end with the request.
func FuzzRequests(f *testing.F) {
	b, a := openAll(f)
	routes := slices.DeleteFunc(a.Routes(), func(r rest.Route) bool { return strings.Contains(r.Pattern, "/debug/pprof/") })
	for i := range routes {
		body, err := json.Marshal(routes[i].About.In) // names of the path's fields
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint16(i), "/", "q", "", string(body))
		f.Add(uint16(i), "/", names[i%len(names)], queries[i%len(queries)], bodies[i%len(bodies)])
	}
	f.Fuzz(func(t *testing.T, route uint16, first, other, query, body string) {
		furnish(t, b, a)
		r := &routes[int(route)%len(routes)]
		name := first
		path := wildcard.ReplaceAllStringFunc(r.Path(), func(w string) string {
			if w == "{$}" {
				return ""
			}
			defer func() { name = other }()
			return url.PathEscape(name)
		})
		u, err := url.Parse("http://broker" + path)
		if err != nil {
			return // no client can send this
		}
		u.RawQuery = query
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // do not wait for handlers that wait
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, r.Method(), u.String(), strings.NewReader(body))
		if err != nil {
			return // as above
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, request)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s %q: %s", r.Method(), u, body, w.Body)
		}
		if got := w.Body.Bytes(); w.Header().Get("Content-Type") == "application/json" && !json.Valid(got) {
			t.Errorf("%s %s %q: the answer is no JSON: %s", r.Method(), u, body, got)
		}
	})
}
