package worker

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// metric is a metric family in the Prometheus text format.
type metric struct {
	name, kind, help string
	write            func(out *bytes.Buffer, name, labels string, s Status)
}

// number returns a family with one value per worker.
func number(name, kind, help string, value func(s Status) int64) metric {
	return metric{name, kind, help, func(out *bytes.Buffer, name, labels string, s Status) {
		fmt.Fprintf(out, "%s{%s} %d\n", name, labels, value(s))
	}}
}

// distribution returns a summary family: quantiles with a sum and a count.
func distribution(name, help string, of func(s Status) Summary[time.Duration]) metric {
	return metric{name, "summary", help, func(out *bytes.Buffer, name, labels string, s Status) {
		d := of(s)
		if d.Count > 0 {
			for _, q := range []struct {
				quantile string
				value    time.Duration
			}{{"0.5", d.P50}, {"0.95", d.P95}, {"0.99", d.P99}} {
				fmt.Fprintf(out, "%s{%s,quantile=%q} %g\n", name, labels, q.quantile, q.value.Seconds())
			}
		}
		fmt.Fprintf(out, "%s_sum{%s} %g\n%s_count{%s} %d\n", name, labels, d.Sum.Seconds(), name, labels, d.Count)
	}}
}

var metrics = []metric{
	{"fiveways_worker_jobs_total", "counter", "Jobs by what their handlers said.", func(out *bytes.Buffer, name, labels string, s Status) {
		fmt.Fprintf(out, "%s{%s,result=\"success\"} %d\n", name, labels, s.Counts.Success)
		fmt.Fprintf(out, "%s{%s,result=\"error\"} %d\n", name, labels, s.Counts.Error)
		fmt.Fprintf(out, "%s{%s,result=\"retry\"} %d\n", name, labels, s.Counts.Retry)
	}},
	number("fiveways_worker_backoffs_total", "counter", "Jobs whose handlers named a time.", func(s Status) int64 { return s.Counts.Backoff }),
	number("fiveways_worker_panics_total", "counter", "Handlers that panicked.", func(s Status) int64 { return s.Counts.Panic }),
	number("fiveways_worker_stale_total", "counter", "Reports that came after the lease was over.", func(s Status) int64 { return s.Counts.Stale }),
	number("fiveways_worker_unreported_total", "counter", "Reports that did not reach the broker.", func(s Status) int64 { return s.Counts.Unreported }),
	number("fiveways_worker_unreachable_total", "counter", "Polls that could not ask the broker.", func(s Status) int64 { return s.Counts.Unreachable }),
	number("fiveways_worker_handling", "gauge", "Jobs that are handled now.", func(s Status) int64 { return int64(s.Handling) }),
	number("fiveways_worker_queue_size", "gauge", "Jobs in the queue when it was last looked at.", func(s Status) int64 { return int64(s.Size) }),
	distribution("fiveways_worker_queueing_seconds", "From the enqueue to the handler, of first attempts.",
		func(s Status) Summary[time.Duration] { return s.QueueingTime }),
	distribution("fiveways_worker_handling_seconds", "In the handler.", func(s Status) Summary[time.Duration] { return s.HandlingTime }),
}

var labelValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// WriteMetrics writes the metrics of workers in the Prometheus text format. Workers of the same
// queue need different names.
func WriteMetrics(out io.Writer, workers ...*Worker) error {
	statuses := make([]Status, len(workers))
	for i, w := range workers {
		statuses[i] = w.Status()
	}
	var text bytes.Buffer
	for _, m := range metrics {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		for _, s := range statuses {
			m.write(&text, m.name, fmt.Sprintf(`worker="%s",queue="%s"`, labelValue.Replace(s.Name), labelValue.Replace(s.Queue)), s)
		}
	}
	_, err := out.Write(text.Bytes())
	return err
}

// MetricsHandler serves WriteMetrics.
func MetricsHandler(workers ...*Worker) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = WriteMetrics(rw, workers...) // the scraper has disconnected
	})
}
