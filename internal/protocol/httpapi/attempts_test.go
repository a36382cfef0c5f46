package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

// Logins are counted as in RabbitMQ, including failed ones, and the counts can be reset.
func TestAttempts(t *testing.T) {
	n := serve(t, resttest.OpenBroker(t), Options{LoginDelay: -1}, ServerOptions{})
	n.request(t, "GET", "/api/users", "guest:wrong", "")
	get := func(path string) (list []map[string]any) {
		t.Helper()
		w := n.request(t, "GET", path, "guest:guest", "")
		if err := json.NewDecoder(w.Body).Decode(&list); err != nil || w.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, w.Status, err)
		}
		return list
	}
	all := get("/api/auth/attempts/fiveways")
	if len(all) != 1 || all[0]["protocol"] != "http" || all[0]["auth_attempts"] != 2.0 || all[0]["auth_attempts_failed"] != 1.0 || all[0]["auth_attempts_succeeded"] != 1.0 {
		t.Errorf("%v", all)
	}
	ofGuest := func(s map[string]any) bool {
		return s["username"] == "guest" && s["remote_address"] == "127.0.0.1" && s["auth_attempts_failed"] == 1.0
	}
	if sources := get("/api/auth/attempts/fiveways/source"); !slices.ContainsFunc(sources, ofGuest) {
		t.Errorf("%v", sources)
	}
	for _, path := range []string{"/api/auth/attempts/fiveways/source", "/api/auth/attempts/fiveways"} {
		if w := n.request(t, "DELETE", path, "guest:guest", ""); w.StatusCode != http.StatusNoContent {
			t.Errorf("%s: %v", path, w.Status)
		}
	}
	if all = get("/api/auth/attempts/fiveways"); len(all) != 1 || all[0]["auth_attempts_failed"] != 0.0 {
		t.Errorf("after a reset: %v", all)
	}
}
