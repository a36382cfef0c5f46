package httpapi

import (
	"net/http/pprof"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// profiles serves Go's CPU and memory profiles.
func (a *API) profiles() {
	a.Open(rest.Administration, "GET /debug/pprof/", pprof.Index)
	a.Open(rest.Administration, "GET /debug/pprof/profile", pprof.Profile)
	a.Open(rest.Administration, "GET /debug/pprof/trace", pprof.Trace)
}
