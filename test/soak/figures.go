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

// Sample is what the metrics said at a time, by their names without labels; those with several
// labels are summed up. What else there is has names of its own.
type Sample struct {
	At     time.Duration // since the run began
	Life   int           // of the process
	Values map[string]float64
}

// Names of what the metrics do not say themselves: the seconds of a processor that the process has
// used, and milliseconds since the sample before, by its histograms and by the probe.
const (
	cpuSeconds                             = "cpu"
	syncMean, checkpointMean, cleaningMean = "sync", "checkpoint", "cleaning"
	confirmP50, confirmP99, confirmP999    = "confirm p50", "confirm p99", "confirm p99.9"
	deliveryP50, deliveryP99, deliveryP999 = "delivery p50", "delivery p99", "delivery p99.9"
)

// Figure is one thing that must not grow.
type Figure struct {
	Name string
	Unit string
	Of   func(v map[string]float64) float64

	// Cause is how much of it is due to what the broker holds and serves at the time.
	Cause func(v map[string]float64) float64

	// Floor is how much it may grow beyond its causes, and Factor by what; the greater one counts.
	Floor, Factor float64

	// Timed says that it is a time, which other work on the machine makes longer.
	Timed bool
}

const mib = 1 << 20

// Figures are all that is judged. Segments grow slowly while a few messages stay in each, as dead
// letters do: a small one is kept for these.
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

// Live figures are shown beside the others, and explain them.
var live = []Figure{
	{Name: "messages", Of: metric("rabbitmq_queue_messages", 1)},
	{Name: "live", Unit: "MiB", Of: metric("rabbitmq_queue_messages_bytes", mib)},
	{Name: "connections", Of: metric("fiveways_connections", 1)},
	{Name: "CPU s", Of: metric(cpuSeconds, 1)},
	{Name: "fsync", Unit: "ms", Of: metric(syncMean, 1)},
}

// metric reads one metric in a unit.
func metric(name string, unit float64) func(map[string]float64) float64 {
	return func(v map[string]float64) float64 { return v[name] / unit }
}

// histograms of seconds, and the names of their means.
var histograms = map[string]string{
	"fiveways_fsync_duration_seconds":        syncMean,
	"fiveways_checkpoint_duration_seconds":   checkpointMean,
	"fiveways_log_cleaning_duration_seconds": cleaningMean,
}

// addMeans adds the means of what histograms have counted since an earlier sample of the same
// process, in milliseconds. Where that is nothing the mean is the one of that sample.
func addMeans(earlier, now map[string]float64) {
	for histogram, mean := range histograms {
		now[mean] = earlier[mean]
		if n := now[histogram+"_count"] - earlier[histogram+"_count"]; n > 0 {
			now[mean] = 1000 * (now[histogram+"_sum"] - earlier[histogram+"_sum"]) / n
		}
	}
}

func nothing(map[string]float64) float64 { return 0 }

// inMemory is the memory of messages, and of what serves connections and queues: about 64 KiB each.
func inMemory(v map[string]float64) float64 {
	return (v["fiveways_message_memory_bytes"] + (v["fiveways_connections"]+v["rabbitmq_queues"])*(64<<10)) / mib
}

// opened is a file for each connection and segment.
func opened(v map[string]float64) float64 {
	return v["fiveways_connections"] + v["fiveways_log_segments"]
}

// running is the goroutines of connections: most have three.
func running(v map[string]float64) float64 { return 3 * v["fiveways_connections"] }

// onDisk is what messages need: cleaning leaves segments of which 30 % is live. What waits for
// cleaning is in the floor.
func onDisk(v map[string]float64) float64 { return v["rabbitmq_queue_messages_bytes"] / 0.3 / mib }

// scrape reads the metrics at addr.
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

// parseMetrics reads Prometheus's text format.
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
