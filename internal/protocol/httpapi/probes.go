package httpapi

import (
	"fmt"
	"net/http"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/storage/store"
)

// probes adds paths for orchestrators and load balancers, which need no login, to the metrics of a
// standalone broker. A node of a cluster has the same paths.
func probes(m *rest.API) {
	m.Open(rest.Anyone, "GET /livez", Alive)
	m.Open(rest.Anyone, "GET /leader", Alive)
	m.Open(rest.Anyone, "GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if st := m.Broker.Stats().LogState; st.Health == store.Failed {
			http.Error(w, "the log has failed", http.StatusServiceUnavailable)
			return
		}
		Alive(w, r)
	})
	m.Open(rest.Anyone, "GET /", func(w http.ResponseWriter, r *http.Request) { m.Refuse(w, r, rest.NotFound("Not Found")) })
}

// Alive reports to the client that the process runs.
func Alive(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }
