package httpapi

import "net/http/pprof"

// profiles serves Go's profiles: where CPU and memory go.
func (a *API) profiles() {
	a.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	a.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	a.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}
