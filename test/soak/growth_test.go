package soak

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// series returns the samples of an hour, one every ten seconds, of a broker in which nothing
// changes except what change does to the n-th of the 360 samples.
func series(change func(n float64, v map[string]float64)) (samples []Sample) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 360 {
		v := map[string]float64{
			"rabbitmq_process_resident_memory_bytes": (120 + 40*rng.Float64()) * mib,
			"fiveways_heap_bytes":                    (30 + 60*rng.Float64()) * mib,
			"rabbitmq_process_open_fds":              100 + float64(rng.IntN(5)),
			"fiveways_goroutines":                    210 + float64(rng.IntN(10)),
			"fiveways_connections":                   80,
			"rabbitmq_queues":                        30 + float64(rng.IntN(20)),
			"fiveways_log_bytes":                     (140 + 300*rng.Float64()) * mib,
			"fiveways_log_segments":                  3 + float64(rng.IntN(5)),
			checkpointMean:                           20 * rng.Float64(),
			cleaningMean:                             100 * rng.Float64(),
		}
		for _, name := range []string{confirmP50, deliveryP50} {
			v[name] = 1 + rng.Float64()
			v[strings.Replace(name, "p50", "p99", 1)] = 5 + 30*rng.Float64()
			v[strings.Replace(name, "p50", "p99.9", 1)] = 10 + 100*rng.Float64()
		}
		change(float64(n), v)
		samples = append(samples, Sample{At: time.Duration(n) * 10 * time.Second, Life: 1, Values: v})
	}
	return samples
}

func TestGrown(t *testing.T) {
	const rss, connections = "rabbitmq_process_resident_memory_bytes", "fiveways_connections"
	for name, c := range map[string]struct {
		change func(n float64, v map[string]float64)
		long   bool
		want   []string // the beginnings of the breaches
	}{
		"steady": {func(float64, map[string]float64) {}, true, nil},
		"fills at the start": {func(n float64, v map[string]float64) {
			v[rss] += 300 * mib * min(1, n/100)
		}, true, nil},
		"peaks": {func(n float64, v map[string]float64) {
			if int(n)%10 == 0 {
				v[rss], v[confirmP999] = v[rss]+n*mib, 10*n
			}
		}, true, nil},
		"memory of messages": {func(n float64, v map[string]float64) {
			v[rss] += n * mib
			v["fiveways_heap_bytes"] += n * mib
			v["fiveways_message_memory_bytes"] += n * mib
		}, true, nil},
		"connections that stay": {func(n float64, v map[string]float64) {
			v[connections] += n
			v["rabbitmq_process_open_fds"] += n
			v["fiveways_goroutines"] += 3 * n
		}, true, nil},
		"a backlog on disk": {func(n float64, v map[string]float64) {
			v["fiveways_log_bytes"] += 4 * n * mib
			v["rabbitmq_queue_messages_bytes"] += 2 * n * mib
		}, true, nil},
		"leaked memory":     {func(n float64, v map[string]float64) { v[rss] += n * mib / 2 }, true, []string{"RSS grew"}},
		"leaked files":      {func(n float64, v map[string]float64) { v["rabbitmq_process_open_fds"] += n / 4 }, true, []string{"files grew"}},
		"leaked goroutines": {func(n float64, v map[string]float64) { v["fiveways_goroutines"] += n }, true, []string{"goroutines grew"}},
		"leaked queues":     {func(n float64, v map[string]float64) { v["rabbitmq_queues"] += n / 4 }, true, []string{"queues grew"}},
		"a log that is never cleaned": {func(n float64, v map[string]float64) {
			v["fiveways_log_bytes"] += 6 * n * mib
			v["fiveways_log_segments"] += n / 6
		}, true, []string{"log grew", "segments grew"}},
		"slower all the time": {func(n float64, v map[string]float64) {
			v[confirmP50], v[deliveryP99] = v[confirmP50]+n/20, v[deliveryP99]+n
		}, true, []string{"confirm p50 grew", "delivery p99 grew"}},
		"twice as many files, in a short run": {func(n float64, v map[string]float64) {
			v["rabbitmq_process_open_fds"] += n
		}, false, []string{"files grew"}},
		"slower, on a busy machine": {func(n float64, v map[string]float64) { v[confirmP50] += n }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Grown(series(c.change), c.long)
			ok := slices.EqualFunc(got, c.want, strings.HasPrefix)
			if !ok {
				t.Errorf("breaches %q, want %q", got, c.want)
			}
		})
	}
}

// TestJudge checks that figures of a process begin anew with each process, and that those of the
// disk do not.
func TestJudge(t *testing.T) {
	sawtooth := series(func(n float64, v map[string]float64) {
		v["rabbitmq_process_resident_memory_bytes"] += 2 * math.Mod(n, 120) * mib
	})
	onDisk := series(func(n float64, v map[string]float64) { v["fiveways_log_bytes"] += 6 * n * mib })
	for i := range sawtooth {
		sawtooth[i].Life, onDisk[i].Life = i/120, i/20
	}
	if got := Judge(sawtooth, nil, true); len(got) != 3 || !strings.HasPrefix(got[0], "RSS grew") {
		t.Errorf("a leak in each of three lives: %q", got)
	}
	if got := Judge(onDisk, nil, true); len(got) != 1 || !strings.HasPrefix(got[0], "log grew") {
		t.Errorf("a log that grows from life to life: %q", got)
	}
	nameless := series(func(_ float64, v map[string]float64) { delete(v, "fiveways_goroutines") })
	if got := Judge(nameless, nil, false); len(got) != 1 || got[0] != "goroutines is not measured" {
		t.Errorf("without one of the metrics: %q", got)
	}
	if got := Judge(nil, onDisk[:8], true); got != nil {
		t.Errorf("8 samples at rest are judged: %q", got)
	}
	if got := Judge(nil, onDisk, true); len(got) != 1 {
		t.Errorf("a log that grows at rest: %q", got)
	}
}
