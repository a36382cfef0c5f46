package jobs

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// Result is the result of a run. Its JSON names are kept stable for scripts.
type Result struct {
	Options Options  `json:"options"`
	Servers []string `json:"servers"` // names, versions, and persistence settings of the servers
	Loads   []Load   `json:"results"`
}

// Load is the result of a load on each server.
type Load struct {
	Name        string  `json:"load"`
	Connections int     `json:"connections"`
	Depth       int     `json:"depth"`
	Servers     []Rate  `json:"servers"` // in the order of Result.Servers
	Ratio       float64 `json:"ratio"`   // first rate divided by the second; 0 with one server
}

// Rate is the result of one server: the median rate of the repetitions, and the latencies in all of
// them. Latencies are of a step with depth jobs, in microseconds, at most 0.8 % too high.
type Rate struct {
	PerSecond float64   `json:"jobs_per_second"`
	Runs      []float64 `json:"runs"`
	P50       float64   `json:"p50_us"`
	P99       float64   `json:"p99_us"`
}

// newResult returns a result with the options but without the passwords.
func newResult(o Options) Result {
	for _, address := range []*string{&o.URL, &o.Against} {
		if u, err := url.Parse(*address); err == nil {
			*address = u.Redacted()
		}
	}
	return Result{Options: o}
}

func summed(name string, connections, depth int, runs [][]Once) Load {
	l := Load{Name: name, Connections: connections, Depth: depth}
	for _, of := range runs {
		var r Rate
		var h latency.Histogram
		for _, one := range of {
			r.Runs = append(r.Runs, one.PerSecond)
			h.Merge(&one.Latency)
		}
		r.PerSecond, r.P50, r.P99 = median(r.Runs), h.Micros(0.5), h.Micros(0.99)
		l.Servers = append(l.Servers, r)
	}
	if len(l.Servers) == 2 && l.Servers[1].PerSecond > 0 {
		l.Ratio = l.Servers[0].PerSecond / l.Servers[1].PerSecond
	}
	return l
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// WriteText writes the result as text.
func (r *Result) WriteText(w io.Writer) error {
	for i, s := range r.Servers {
		fmt.Fprintf(w, "%c  %s\n", 'A'+i, s)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "load\tconnections\tdepth\t"
	for i := range r.Servers {
		name := string(rune('A' + i))
		head += strings.ReplaceAll("N jobs/s\tN p50 ms\tN p99 ms\t", "N", name)
	}
	if len(r.Servers) > 1 {
		head += "A/B\t"
	}
	fmt.Fprintln(t, head)
	for _, l := range r.Loads {
		fmt.Fprintf(t, "%s\t%d\t%d\t", l.Name, l.Connections, l.Depth)
		for _, s := range l.Servers {
			fmt.Fprintf(t, "%.0f\t%.3f\t%.3f\t", s.PerSecond, s.P50/1e3, s.P99/1e3)
		}
		if len(r.Servers) > 1 {
			fmt.Fprintf(t, "%.2f\t", l.Ratio)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
