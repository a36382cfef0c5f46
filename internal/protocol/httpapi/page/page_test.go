package page_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/httpapi/page"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

// serve returns a function that requests a path of the page's server without a login.
func serve(t *testing.T) func(path string, header ...string) *http.Response {
	t.Helper()
	b := resttest.OpenBroker(t)
	a := rest.New(b, rest.Options{LoginDelay: -1})
	page.Register(a)
	handler := rest.NewServer(a, rest.ServerOptions{}).Handler()
	return func(path string, header ...string) *http.Response {
		r := httptest.NewRequest("GET", path, nil)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Result()
	}
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var linked = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

func TestIndexAndWhatItLoads(t *testing.T) {
	get := serve(t)
	index := get("/")
	if index.StatusCode != 200 || index.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("/ is %d with %v", index.StatusCode, index.Header)
	}
	found := linked.FindAllStringSubmatch(body(t, index.Body), -1)
	if len(found) < 5 {
		t.Fatalf("/ loads %d files", len(found))
	}
	for _, m := range found {
		asset := get("/" + m[1])
		if asset.StatusCode != 200 || !strings.Contains(asset.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s is %d with %v", m[1], asset.StatusCode, asset.Header)
		}
		if strings.Contains(m[1], "://") {
			t.Errorf("%s is loaded from elsewhere", m[1])
		}
	}
	if again := get("/", "If-None-Match", index.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("/ as it is known already is %d", again.StatusCode)
	}
}

func TestHeaders(t *testing.T) {
	h := serve(t)("/").Header
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	policy := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q lacks %q", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
}

func TestPacked(t *testing.T) {
	get := serve(t)
	src := linked.FindStringSubmatch(body(t, get("/").Body))
	plain, packed := get("/"+src[1]), get("/"+src[1], "Accept-Encoding", "gzip, br")
	if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
		t.Fatalf("packed has %v, plain %v", packed.Header, plain.Header)
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body(t, z) != body(t, plain.Body) {
		t.Error("what is packed is not what is plain")
	}
}

func TestWhatIsNotServed(t *testing.T) {
	get := serve(t)
	src := linked.FindStringSubmatch(body(t, get("/").Body))[1]
	version := strings.Split(src, "/")[1]
	for path, want := range map[string]int{
		"/assets/" + version + "/vendor/update.sh":      404,
		"/assets/" + version + "/vendor/preact/LICENSE": 404,
		"/assets/" + version + "/index.html":            404,
		"/assets/" + version + "/js":                    404,
		"/assets/0000000000000000/js/main.js":           404,
		"/assets/" + version + "/web.go":                404,
		"/elsewhere":                                    401,
	} {
		if got := get(path).StatusCode; got != want {
			t.Errorf("%s is %d, want %d", path, got, want)
		}
	}
}
