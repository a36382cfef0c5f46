package resttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"fiveways.dev/fiveways/internal/protocol/httpapi/openapi"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Documented is an API that can be described by an OpenAPI document.
type Documented interface{ Routes() []rest.Route }

// promises are the schemas of an API's answers, from its document.
type promises struct {
	mux    *http.ServeMux // finds the route of a request
	routes map[string]rest.Route

	mu       sync.Mutex
	compiler *jsonschema.Compiler // guarded by mu
}

// made caches the promises of APIs, by the API.
var made sync.Map

const place = "http://broker/openapi.json"

func promisesOf(t testing.TB, a Documented) *promises {
	t.Helper()
	if p, ok := made.Load(a); ok {
		return p.(*promises)
	}
	p := &promises{mux: http.NewServeMux(), routes: map[string]rest.Route{}, compiler: jsonschema.NewCompiler()}
	for _, r := range a.Routes() {
		p.routes[r.Pattern] = r
		p.mux.Handle(r.Pattern, http.NotFoundHandler())
	}
	doc, err := openapi.Document("test", a.Routes())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	closeObjects(plain)
	if err := p.compiler.AddResource(place, plain); err != nil {
		t.Fatal(err)
	}
	made.Store(a, p)
	return p
}

// closeObjects forbids additional properties in each object that lists its properties: in tests, a
// field that the document lacks is an error.
func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			closeObjects(inner)
		}
	case map[string]any:
		if _, told := v["properties"].(map[string]any); told && v["type"] == "object" && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			closeObjects(inner)
		}
	}
}

// CheckReply fails the test if an answer does not match the API's document. Answers whose fields
// the query selects cannot be compared.
func CheckReply(t testing.TB, a Documented, r *http.Request, status int, body string) {
	t.Helper()
	q := r.URL.Query()
	if q.Has("columns") || q.Has("disable_stats") {
		return
	}
	p := promisesOf(t, a)
	look := r.Clone(r.Context())
	path := strings.ReplaceAll(strings.ReplaceAll(r.URL.EscapedPath(), "%2F", "x"), "%2f", "x") // wildcards of the multiplexer do not match a single slash
	look.URL.Path, look.URL.RawPath = strings.TrimSuffix(path, "/"), ""
	_, pattern := p.mux.Handler(look)
	route, ok := p.routes[pattern]
	if !ok || r.Method == http.MethodHead {
		return
	}
	if err := p.check(&route, status, body); err != nil {
		t.Errorf("%s %s is not answered as its document says: %d %.300s: %v", r.Method, r.URL, status, body, err)
	}
}

func (p *promises) check(route *rest.Route, status int, body string) error {
	answer, told := route.Answers()[status]
	code := strconv.Itoa(status)
	switch {
	case told && (route.About.Type != "" || answer == nil && body == ""):
		return nil
	case told && answer == nil:
		return fmt.Errorf("it should have no body")
	case !told && status < http.StatusBadRequest:
		return fmt.Errorf("it does not know this status")
	case !told:
		return p.validate("#/components/responses/Refused/content/application~1json/schema", body)
	}
	path := strings.NewReplacer("...}", "}", "{$}", "").Replace(route.Path())
	pointer := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path)
	return p.validate("#/paths/"+pointer+"/"+strings.ToLower(route.Method())+"/responses/"+code+"/content/application~1json/schema", body)
}

func (p *promises) validate(pointer, body string) error {
	p.mu.Lock()
	schema, err := p.compiler.Compile(place + pointer)
	p.mu.Unlock()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}
