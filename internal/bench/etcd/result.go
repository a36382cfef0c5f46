package etcd

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Result is the result of a run. Its JSON names are kept stable for scripts.
type Result struct {
	Options Options `json:"options"`
	Server  string  `json:"server"` // what the server identifies itself as
	Loads   []Load  `json:"results"`
}

// Load is the result of a load. Latencies are in milliseconds, at most 0.8 % too high. CPU shares
// are in percent of one core.
type Load struct {
	Name      string  `json:"load"`
	Count     int64   `json:"count"` // messages put, received and deleted; requests; or events
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"` // put to deleted (queue), put to event (watch), or a request
	P99       float64 `json:"p99_ms"`
	PutP50    float64 `json:"put_p50_ms,omitempty"` // queue: of the put alone
	PutP99    float64 `json:"put_p99_ms,omitempty"`
	Least     int64   `json:"least,omitempty"` // queue: messages of the consumer with the fewest
	Most      int64   `json:"most,omitempty"`  // queue: messages of the consumer with the most
	ClientCPU float64 `json:"client_cpu_percent"`
	ServerCPU float64 `json:"server_cpu_percent"` // -1 if unknown
	ServerRSS int64   `json:"server_rss_bytes"`   // 0 if unknown
}

// Fairness returns the number of messages of the consumer with the fewest divided by that of the
// consumer with the most.
func (l Load) Fairness() float64 {
	if l.Most == 0 {
		return 0
	}
	return float64(l.Least) / float64(l.Most)
}

// WriteText writes the result as text.
func (r *Result) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n%d producers, %d consumers, %d bytes\n", r.Server, r.Options.Producers, r.Options.Consumers, r.Options.Size)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "load\tper second\tp50 ms\tp99 ms\tput p50 ms\tleast/most\tclient CPU %\tserver CPU %\tserver MiB\t")
	for _, l := range r.Loads {
		put, fair, cpu, rss := "", "", "", ""
		if l.Most > 0 {
			put, fair = fmt.Sprintf("%.2f", l.PutP50), fmt.Sprintf("%.2f", l.Fairness())
		}
		if l.ServerCPU >= 0 {
			cpu, rss = fmt.Sprintf("%.0f", l.ServerCPU), fmt.Sprint(l.ServerRSS>>20)
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%.2f\t%s\t%s\t%.0f\t%s\t%s\t\n", l.Name, l.PerSecond, l.P50, l.P99, put, fair, l.ClientCPU, cpu, rss)
	}
	return t.Flush()
}
