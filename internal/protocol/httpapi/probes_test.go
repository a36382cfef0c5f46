package httpapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// The probes of a broker alone need no login, on the port for metrics. It is not ready any more
// when its log has failed.
func TestProbes(t *testing.T) {
	disk := vfs.NewErrors(vfs.NewMem())
	b := resttest.Open(t, disk)
	t.Cleanup(func() { b.Close() }) // it reports that the disk is gone
	m := metricsOf(New(b, Options{Log: resttest.Quiet}), nil)
	probes(m)
	check := func(path string, want int) {
		t.Helper()
		r := httptest.NewRecorder()
		m.ServeHTTP(r, httptest.NewRequest("GET", path, nil))
		if r.Code != want {
			t.Errorf("%s: %d %s, want %d", path, r.Code, r.Body, want)
		}
	}
	for _, path := range []string{"/livez", "/readyz", "/leader", "/metrics"} {
		check(path, http.StatusOK)
	}
	check("/metrics/cluster", http.StatusNotFound)
	disk.FailSync(errors.New("the disk is gone"))
	_, err := resttest.Operate(t, b).DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: catalog.DefaultQueuePolicy()})
	if err == nil {
		t.Fatal("declared without a disk")
	}
	check("/readyz", http.StatusServiceUnavailable)
	check("/livez", http.StatusOK)
}
