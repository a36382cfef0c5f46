package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fiveways.dev/fiveways/internal/protocol/httpapi/openapi"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

// The document is valid OpenAPI, and describes exactly the routes that exist.
func TestDocument(t *testing.T) {
	a := New(resttest.OpenBroker(t), Options{})
	status, text := resttest.Request(t, a, "GET "+openapi.Path)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	var got, want []string
	ids := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			got = append(got, method+" "+path)
			if before := ids[op.OperationID]; before != "" {
				t.Errorf("%s %s and %s are both called %s", method, path, before, op.OperationID)
			}
			ids[op.OperationID] = method + " " + path
		}
	}
	for _, r := range a.Routes() {
		want = append(want, strings.NewReplacer("...}", "}", "{$}", "").Replace(r.Pattern))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the document tells of\n%s\nand there are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each route has a one-line summary in the file describe.go of its package, and no summary is
// without a route.
func TestRoutesAreDescribed(t *testing.T) {
	a := New(resttest.OpenBroker(t), Options{})
	var patterns []string
	for _, r := range a.Routes() {
		patterns = append(patterns, r.Pattern)
		switch {
		case r.About.Summary == "":
			t.Errorf("%s has no summary", r.Pattern)
		case r.Method() == http.MethodGet && r.About.Out == nil && r.About.Answers == nil:
			t.Errorf("%s does not say what it answers", r.Pattern)
		case strings.HasSuffix(r.About.Summary, ".") || strings.Contains(r.About.Summary, "\n"):
			t.Errorf("%s: a summary is one line without a full stop", r.Pattern)
		}
	}
	for _, pattern := range a.Described() {
		if !slices.Contains(patterns, pattern) {
			t.Errorf("%s is described, and not served", pattern)
		}
	}
}

// The document lists the tags that a path needs, any one of which is enough.
func TestDocumentTellsRoles(t *testing.T) {
	a := New(resttest.OpenBroker(t), Options{})
	_, text := resttest.Request(t, a, "GET "+openapi.Path)
	var doc struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range a.Routes() {
		var roles []string
		path := strings.NewReplacer("...}", "}", "{$}", "").Replace(r.Path())
		for _, s := range doc.Paths[path][strings.ToLower(r.Method())].Security {
			roles = append(roles, s["basic"]...)
		}
		var want []string
		if len(r.Need.Tags()) > 0 {
			want = admitted[r.Need]
		}
		slices.Sort(roles)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(roles, want) {
			t.Errorf("%s tells of the roles %q, and opens to %q", r.Pattern, roles, want)
		}
	}
}
