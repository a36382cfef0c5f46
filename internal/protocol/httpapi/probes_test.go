package httpapi

import (
	"errors"
	"net/http/httptest"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// The metrics port needs no login and answers probes. Paths that only a cluster has do not exist.
func TestProbes(t *testing.T) {
	errs := vfs.NewErrors(vfs.NewMem())
	b := enginetest.Open(t, errs, func(o *broker.Options) { o.DiskFreeLimit = -1 })
	h := NewMetricsServer(New(b, Options{}), ServerOptions{}).Handler()
	want := func(path string, code int) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != code {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, code)
		}
	}
	for path, code := range map[string]int{
		"/metrics": 200, "/livez": 200, "/readyz": 200, "/leader": 200,
		"/metrics/cluster": 404, "/api/overview": 404, "/": 404,
	} {
		want(path, code)
	}
	errs.FailSync(errors.New("lost"))
	b.PutVHost(catalog.VHostSpec{Name: "new"}) //nolint:errcheck // it fails, because the log does
	want("/readyz", 503)
	want("/livez", 200)
	b.Close() //nolint:errcheck // the log has failed
}
