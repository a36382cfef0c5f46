package soak

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Sample is the values of the metrics at one time, by name. Metrics with several labels are summed.
// Values that are not metrics have the names below.
type Sample struct {
	At     time.Duration // since the run began
	Life   int           // number of the process
	Values map[string]float64
}

// The names of values that are not metrics: the CPU seconds of the process, and latencies in
// milliseconds since the previous sample, from histograms and from the probe.
const (
	cpuSeconds                             = "cpu"
	syncMean, checkpointMean, cleaningMean = "sync", "checkpoint", "cleaning"
	confirmP50, confirmP99, confirmP999    = "confirm p50", "confirm p99", "confirm p99.9"
	deliveryP50, deliveryP99, deliveryP999 = "delivery p50", "delivery p99", "delivery p99.9"
)

// Figure is a value that must not grow.
type Figure struct {
	Name string
	Unit string
	Of   func(v map[string]float64) float64

	// Cause returns how much of it is due to what the broker holds and serves at the time.
	Cause func(v map[string]float64) float64

	// Floor is how much the figure may grow beyond its cause, and Factor by which factor. The
	// greater limit counts.
	Floor, Factor float64

	// Timed says that the figure is a time, which other work on the machine increases.
	Timed bool
}

const mib = 1 << 20

// Figures are the figures that are judged. The number of segments grows slowly while a few messages
// stay in each, as dead letters do: a small segment is kept for these.
var Figures = []Figure{
	{Name: "RSS", Unit: "MiB", Of: metric("rabbitmq_process_resident_memory_bytes", mib), Cause: inMemory, Floor: 48, Factor: 1.15},
	{Name: "heap", Unit: "MiB", Of: metric("fiveways_heap_bytes", mib), Cause: inMemory, Floor: 48, Factor: 1.3},
	{Name: "files", Of: metric("rabbitmq_process_open_fds", 1), Cause: opened, Floor: 10, Factor: 1.1},
	{Name: "goroutines", Of: metric("fiveways_goroutines", 1), Cause: running, Floor: 30, Factor: 1.2},
	{Name: "queues", Of: metric("rabbitmq_queues", 1), Cause: nothing, Floor: 10, Factor: 1.2},
	{Name: "log", Unit: "MiB", Of: metric("fiveways_log_bytes", mib), Cause: onDisk, Floor: 512, Factor: 1.2},
	{Name: "segments", Of: metric("fiveways_log_segments", 1), Cause: nothing, Floor: 16, Factor: 1.5},
	{Name: "checkpoint", Unit: "ms", Of: metric(checkpointMean, 1), Cause: nothing, Floor: 100, Factor: 1.5, Timed: true},
	{Name: "cleaning", Unit: "ms", Of: metric(cleaningMean, 1), Cause: nothing, Floor: 300, Factor: 1.5, Timed: true},
	{Name: confirmP50, Unit: "ms", Of: metric(confirmP50, 1), Cause: nothing, Floor: 2, Factor: 1.5, Timed: true},
	{Name: confirmP99, Unit: "ms", Of: metric(confirmP99, 1), Cause: nothing, Floor: 20, Factor: 1.5, Timed: true},
	{Name: confirmP999, Unit: "ms", Of: metric(confirmP999, 1), Cause: nothing, Floor: 100, Factor: 1.5, Timed: true},
	{Name: deliveryP50, Unit: "ms", Of: metric(deliveryP50, 1), Cause: nothing, Floor: 2, Factor: 1.5, Timed: true},
	{Name: deliveryP99, Unit: "ms", Of: metric(deliveryP99, 1), Cause: nothing, Floor: 20, Factor: 1.5, Timed: true},
	{Name: deliveryP999, Unit: "ms", Of: metric(deliveryP999, 1), Cause: nothing, Floor: 100, Factor: 1.5, Timed: true},
}

// live are figures that are shown beside the others and explain them.
var live = []Figure{
	{Name: "messages", Of: metric("rabbitmq_queue_messages", 1)},
	{Name: "live", Unit: "MiB", Of: metric("rabbitmq_queue_messages_bytes", mib)},
	{Name: "connections", Of: metric("fiveways_connections", 1)},
	{Name: "CPU s", Of: metric(cpuSeconds, 1)},
	{Name: "fsync", Unit: "ms", Of: metric(syncMean, 1)},
}

// metric returns a function that reads a metric in the given unit.
func metric(name string, unit float64) func(map[string]float64) float64 {
	return func(v map[string]float64) float64 { return v[name] / unit }
}

// histograms maps histograms of seconds to the names of their means.
var histograms = map[string]string{
	"fiveways_fsync_duration_seconds":        syncMean,
	"fiveways_checkpoint_duration_seconds":   checkpointMean,
	"fiveways_log_cleaning_duration_seconds": cleaningMean,
}

// addMeans adds the means, in milliseconds, of what the histograms have counted since an earlier
// sample of the same process. A histogram that has counted nothing keeps its earlier mean.
func addMeans(earlier, now map[string]float64) {
	for histogram, mean := range histograms {
		now[mean] = earlier[mean]
		if n := now[histogram+"_count"] - earlier[histogram+"_count"]; n > 0 {
			now[mean] = 1000 * (now[histogram+"_sum"] - earlier[histogram+"_sum"]) / n
		}
	}
}

func nothing(map[string]float64) float64 { return 0 }

// inMemory returns the memory that messages, connections and queues explain. A connection or a
// queue needs about 64 KiB.
func inMemory(v map[string]float64) float64 {
	return (v["fiveways_message_memory_bytes"] + (v["fiveways_connections"]+v["rabbitmq_queues"])*(64<<10)) / mib
}

// opened returns the number of files that connections and segments explain: one each.
func opened(v map[string]float64) float64 {
	return v["fiveways_connections"] + v["fiveways_log_segments"]
}

// running returns the number of goroutines that connections explain: most have three.
func running(v map[string]float64) float64 { return 3 * v["fiveways_connections"] }

// onDisk returns the disk space that messages explain: compaction leaves segments of which 30 % is
// live. Segments that wait for compaction are covered by the floor.
func onDisk(v map[string]float64) float64 { return v["rabbitmq_queue_messages_bytes"] / 0.3 / mib }

// scrape returns the metrics that addr serves.
func scrape(ctx context.Context, addr string) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("soak: metrics: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("soak: metrics: %s", resp.Status)
	}
	return parseMetrics(resp.Body)
}

// parseMetrics parses the Prometheus text format.
func parseMetrics(r io.Reader) (map[string]float64, error) {
	values := map[string]float64{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		end := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || end < 0 {
			continue
		}
		n, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("soak: metrics: %q: %w", line, err)
		}
		name, _, _ := strings.Cut(line[:end], "{")
		values[name] += n
	}
	return values, nil
}
