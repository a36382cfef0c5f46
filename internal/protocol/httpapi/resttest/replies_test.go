package resttest

import (
	"net/http"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

type thing struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

// Deviations from the document are found: extra or missing fields, wrong types, statuses, bodies.
func TestPromisesAreChecked(t *testing.T) {
	a := rest.New(OpenBroker(t), rest.Options{Log: Quiet})
	a.Handle(rest.Login, "GET /api/things/{name}", nil)
	a.Handle(rest.Login, "GET /api/things", nil)
	a.Handle(rest.Login, "PUT /api/things/{name}", nil)
	a.Describe(map[string]rest.About{
		"GET /api/things/{name}": {Summary: "One", Out: thing{}},
		"GET /api/things":        {Summary: "All", Out: thing{}, Listing: true},
		"PUT /api/things/{name}": {Summary: "Make one", In: thing{}},
	})
	p := promisesOf(t, a)
	for _, tc := range []struct {
		pattern string
		status  int
		body    string
		wrong   string // "": nothing is wrong
	}{
		{"GET /api/things/{name}", 200, `{"name":"x"}`, ""},
		{"GET /api/things/{name}", 200, `{"name":"x","note":"y"}`, ""},
		{"GET /api/things/{name}", 200, `{"note":"y"}`, "missing property 'name'"},
		{"GET /api/things/{name}", 200, `{"name":5}`, "got number, want string"},
		{"GET /api/things/{name}", 200, `{"name":"x","other":1}`, "additional properties 'other' not allowed"},
		{"GET /api/things/{name}", 201, `{"name":"x"}`, "does not know this status"},
		{"GET /api/things/{name}", 404, `{"error":"a","reason":"b"}`, ""},
		{"GET /api/things/{name}", 404, `{"error":"a"}`, "missing property 'reason'"},
		{"GET /api/things", 200, `[{"name":"x"}]`, ""},
		{"GET /api/things", 200, `{"items":[],"filtered_count":0,"item_count":0,"page":1,"page_count":0,"page_size":100,"total_count":0}`, ""},
		{"GET /api/things", 200, `null`, "oneOf"},
		{"PUT /api/things/{name}", 201, "", ""},
		{"PUT /api/things/{name}", 204, "", ""},
		{"PUT /api/things/{name}", 204, "{}", "should have no body"},
	} {
		route := p.routes[tc.pattern]
		err := p.check(&route, tc.status, tc.body)
		switch {
		case tc.wrong == "" && err != nil:
			t.Errorf("%s %d %s: %v", tc.pattern, tc.status, tc.body, err)
		case tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)):
			t.Errorf("%s %d %s: %v, want %s", tc.pattern, tc.status, tc.body, err, tc.wrong)
		}
	}
}

// The route of a request is found even if a name is just a slash, such as that of a virtual host.
func TestRouteOfARequest(t *testing.T) {
	a := rest.New(OpenBroker(t), rest.Options{Log: Quiet})
	a.Handle(rest.Login, "GET /api/things/{vhost}/{name}", func(*http.Request) (rest.Answer, error) {
		return rest.Answer{Status: http.StatusOK, Body: thing{Name: "x"}}, nil
	})
	a.Describe(map[string]rest.About{"GET /api/things/{vhost}/{name}": {Summary: "One", Out: []thing{}}})
	wrong := &recorder{TB: t}
	if status, body := Request(wrong, a, "GET /api/things/%2F/a%2Fb"); status != http.StatusOK || body != `{"name":"x"}` {
		t.Errorf("%d %s", status, body)
	}
	if wrong.failures != 1 {
		t.Errorf("an object instead of a list fails a test %d times", wrong.failures)
	}
}

// recorder is a test that counts its failures.
type recorder struct {
	testing.TB
	failures int
}

func (r *recorder) Errorf(string, ...any) { r.failures++ }
