package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
)

func TestHealth(t *testing.T) {
	alarm := false
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/health/checks/local-alarms" && alarm:
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte(`{"status":"failed","reason":"alarms","alarms":[{"node":"n1","resource":"disk"},{"node":"n2","resource":"disk"}]}`)) //nolint:errcheck // the test would fail
		case strings.HasPrefix(r.URL.Path, "/api/health/checks/"):
			w.Write([]byte(`{"status":"ok"}`)) //nolint:errcheck // the test would fail
		default:
			http.NotFound(w, r)
		}
	}))
	defer api.Close()
	if out, errs, code := command(t, "health", "--url", api.URL); code != exitcode.OK || out != "ok\n" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	alarm = true
	if _, errs, code := command(t, "health", "--url", api.URL); code != exitcode.Failure || !strings.Contains(errs, "local-alarms: alarms; n1 is low on disk; n2 is low on disk") {
		t.Errorf("with an alarm: exit code %d, %q", code, errs)
	}
	// The command does not open the folder of a stopped broker.
	if _, errs, code := command(t, "health", "--data", t.TempDir()); code != exitcode.Failure || !strings.Contains(errs, "no broker runs on") {
		t.Errorf("without a broker: exit code %d, %q", code, errs)
	}
}
