package metrics

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
	"fiveways.dev/fiveways/internal/traces"
)

// Options are the sources of metrics beside the broker.
type Options struct {
	Node       rest.Node
	Logins     *protocol.Logins
	Semaphores *semaphores.Manager     // nil: there are none
	Shovels    func() []dynamic.Status // nil: there are none
	Spans      func() traces.Stats     // nil: no traces are exported
	More       func(io.Writer)         // writes further metrics at /metrics; nil: there are none
}

// source is the source of all metrics.
type source struct {
	b *broker.Broker
	o Options
}

// Register adds the paths to an API, for callers that satisfy need.
func Register(a *rest.API, need rest.Need, o Options) {
	s := &source{a.Broker, o}
	a.Describe(about)
	a.Open(need, "GET /metrics", serve(func(*http.Request) collect { return s.aggregated }, o.More))
	a.Open(need, "GET /metrics/per-object", serve(func(*http.Request) collect { return s.perObject }, nil))
	a.Open(need, "GET /metrics/detailed", serve(func(r *http.Request) collect {
		q := r.URL.Query()
		return s.detailed(q["family"], q["vhost"])
	}, nil))
}

// collect adds metrics to a sink.
type collect func(out *sink)

// contentType is the media type of the text format.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// serve answers with the metrics that are collected for a request, followed by the output of more,
// compressed if the client accepts that.
func serve(of func(r *http.Request) collect, more func(io.Writer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out := &sink{all: &[]*family{}}
		of(r)(out)
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Vary", "Accept-Encoding")
		to := io.Writer(w)
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
			defer z.Close()                                //nolint:errcheck // the client is gone
			to = z
		}
		out.writeTo(to) //nolint:errcheck // as above
		if more != nil {
			more(to)
		}
	}
}
