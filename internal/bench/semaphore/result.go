package semaphore

import (
	"fmt"
	"io"
	"net/url"
	"text/tabwriter"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// Result is the result of a run. Its JSON names are kept stable for scripts.
type Result struct {
	Options Options `json:"options"`
	Server  string  `json:"server"` // its name and version, and which side decides
	Loads   []Load  `json:"results"`
}

// Load is the result of a load. Latencies are in milliseconds, at most 0.8 % too high.
type Load struct {
	Name      string  `json:"load"`
	Count     int64   `json:"count"` // places handed over, or changes
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"` // handover: release to the next event Acquired; changes: a change
	P99       float64 `json:"p99_ms"`
	Max       float64 `json:"max_ms"`
	Starved   float64 `json:"starved_percent"` // handover: share of time without a task to release
}

func newLoad(name string, h *latency.Histogram, took time.Duration) Load {
	return Load{Name: name, Count: int64(h.Count()), PerSecond: float64(h.Count()) / took.Seconds(), P50: h.Millis(0.5), P99: h.Millis(0.99), Max: h.Millis(1)}
}

// newResult returns a result with the options but without the password.
func newResult(o Options, server string) Result {
	if u, err := url.Parse(o.URL); err == nil {
		o.URL = u.Redacted()
	}
	return Result{Options: o, Server: server}
}

// WriteText writes the result as text.
func (r *Result) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n%d running, %d waiting\n", r.Server, r.Options.Active, r.Options.Waiting)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "load\tcount\tper second\tp50 ms\tp99 ms\tmax ms\tstarved %\t")
	for _, l := range r.Loads {
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.3f\t%.3f\t%.3f\t%.1f\t\n", l.Name, l.Count, l.PerSecond, l.P50, l.P99, l.Max, l.Starved)
	}
	return t.Flush()
}
