package httpapi

import "net/http/pprof"

// profiles serves Go's profiles: where CPU and memory go.
func (a *API) profiles() {
	a.open(administration, "GET /debug/pprof/", pprof.Index)
	a.open(administration, "GET /debug/pprof/profile", pprof.Profile)
	a.open(administration, "GET /debug/pprof/trace", pprof.Trace)
}
