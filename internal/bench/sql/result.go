package sql

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
	Loads   []Load  `json:"results"`
}

// Load is the result of one load. An operation is a statement, or a transaction of several.
// Latencies are in microseconds, at most 0.8 % too high.
type Load struct {
	Name       string  `json:"load"`
	Clients    int     `json:"clients"`
	Seconds    float64 `json:"seconds"`
	Operations Flow    `json:"operations"`
	Messages   Flow    `json:"messages"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
	Max        float64 `json:"max_us"`
}

// Flow is a count and its rate over the run.
type Flow struct {
	Count     uint64  `json:"count"`
	PerSecond float64 `json:"per_second"`
}

// newResult returns a result with the options but without the password.
func newResult(o Options) Result {
	if u, err := url.Parse(o.URL); err == nil && u.Scheme != "" {
		o.URL = u.Redacted()
	} else {
		o.URL = ""
	}
	return Result{Options: o}
}

// measured sums up the measurements of the clients.
func measured(name string, clients []*client, took time.Duration) Load {
	var h latency.Histogram
	var operations, messages uint64
	for _, k := range clients {
		h.Merge(&k.latency)
		operations += k.operations
		messages += k.messages
	}
	flow := func(n uint64) Flow { return Flow{n, float64(n) / took.Seconds()} }
	return Load{
		Name: name, Clients: len(clients), Seconds: took.Seconds(), Operations: flow(operations), Messages: flow(messages),
		P50: h.Micros(0.5), P99: h.Micros(0.99), Max: h.Micros(1),
	}
}

// WriteText writes the result as text.
func (r *Result) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "load\tclients\tseconds\toperations/s\tmessages/s\tp50 ms\tp99 ms\tmax ms\t\n")
	for _, l := range r.Loads {
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.0f\t%.0f\t%.3f\t%.3f\t%.3f\t\n",
			l.Name, l.Clients, l.Seconds, l.Operations.PerSecond, l.Messages.PerSecond, l.P50/1e3, l.P99/1e3, l.Max/1e3)
	}
	return t.Flush()
}
