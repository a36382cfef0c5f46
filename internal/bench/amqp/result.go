package amqp

import (
	"fmt"
	"io"
	"text/tabwriter"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/bench/process"
)

// Result is the result of a run. Its JSON names are kept stable for scripts.
type Result struct {
	Options   Options `json:"options"`
	Seconds   float64 `json:"seconds"`
	Published Flow    `json:"published"`
	Confirmed Flow    `json:"confirmed"`
	Nacked    uint64  `json:"nacked"` // refused by the broker
	Received  Flow    `json:"received"`

	ConfirmLatency  *Latency `json:"confirm_latency,omitempty"`    // due until confirmed; nil without confirms
	EndToEndLatency *Latency `json:"end_to_end_latency,omitempty"` // due until received; nil without stamped messages

	Broker *Usage `json:"broker,omitempty"` // nil without Options.PID
}

// Flow is a count of messages and their rate over the run.
type Flow struct {
	Count     uint64  `json:"count"`
	PerSecond float64 `json:"per_second"`
}

// Latency holds percentiles in microseconds, at most 0.8 % too high.
type Latency struct {
	Count uint64  `json:"count"`
	P50   float64 `json:"p50_us"`
	P90   float64 `json:"p90_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p99_9_us"`
	Max   float64 `json:"max_us"`
}

// Usage is the resource usage of the measured process during the run.
type Usage struct {
	CPUSeconds       float64 `json:"cpu_seconds"`
	CPUMicrosPerUnit float64 `json:"cpu_us_per_message"` // per message published or received, whichever are more
	RSSBytes         int64   `json:"rss_bytes"`          // at the end
}

// snapshot returns the current counts.
func (r *run) snapshot() Result {
	seconds := r.now().Seconds()
	flow := func(n uint64) Flow { return Flow{n, float64(n) / seconds} }
	options := r.Options
	options.URL = redacted(options.URL)
	return Result{
		Options: options, Seconds: seconds,
		Published: flow(r.sent.Load()), Confirmed: flow(r.confirmed.Load()), Nacked: r.nacked.Load(), Received: flow(r.received.Load()),
	}
}

// addLatencies merges the latencies of the connections, which must have ended.
func (res *Result) addLatencies(publishers []*publisher, consumers []*consumer) {
	var confirm, endToEnd latency.Histogram
	for _, p := range publishers {
		confirm.Merge(&p.window.latency)
	}
	for _, k := range consumers {
		endToEnd.Merge(&k.latency)
	}
	res.ConfirmLatency, res.EndToEndLatency = percentiles(&confirm), percentiles(&endToEnd)
}

func percentiles(h *latency.Histogram) *Latency {
	if h.Count() == 0 {
		return nil
	}
	return &Latency{Count: h.Count(), P50: h.Micros(0.5), P90: h.Micros(0.9), P99: h.Micros(0.99), P999: h.Micros(0.999), Max: h.Micros(1)}
}

func (res *Result) addUsage(before, after process.Usage) {
	if res.Options.PID == 0 {
		return
	}
	cpu := (after.CPU - before.CPU).Seconds()
	messages := max(res.Published.Count, res.Received.Count, 1)
	res.Broker = &Usage{CPUSeconds: cpu, CPUMicrosPerUnit: cpu * 1e6 / float64(messages), RSSBytes: after.RSS}
}

// WriteText writes the result as text.
func (res *Result) WriteText(w io.Writer) error {
	flows := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(flows, "\tmessages\tper second\t\n")
	row := func(name string, f Flow) { fmt.Fprintf(flows, "%s\t%d\t%.0f\t\n", name, f.Count, f.PerSecond) }
	if res.Options.Publishers > 0 {
		row("published", res.Published)
		if res.Options.Confirm > 0 {
			row("confirmed", res.Confirmed)
		}
	}
	if res.Options.Consumers > 0 {
		row("received", res.Received)
	}
	if res.Nacked > 0 {
		row("refused", Flow{res.Nacked, float64(res.Nacked) / res.Seconds})
	}
	if err := flows.Flush(); err != nil {
		return err
	}
	if res.ConfirmLatency != nil || res.EndToEndLatency != nil {
		fmt.Fprintln(w)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(table, "latency in ms\tp50\tp90\tp99\tp99.9\tmax\t\n")
		for _, l := range []struct {
			name string
			of   *Latency
		}{{"confirm", res.ConfirmLatency}, {"end to end", res.EndToEndLatency}} {
			if l.of != nil {
				fmt.Fprintf(table, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n",
					l.name, l.of.P50/1e3, l.of.P90/1e3, l.of.P99/1e3, l.of.P999/1e3, l.of.Max/1e3)
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if b := res.Broker; b != nil {
		fmt.Fprintf(w, "\nbroker: %.2f µs CPU per message, %.1f MB resident\n", b.CPUMicrosPerUnit, float64(b.RSSBytes)/1e6)
	}
	return nil
}
