package soak

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/crash/loads"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// TestSoak runs a broker for SOAK_HOURS. If that is unset, it runs two cycles of a minute and
// judges no times. SOAK_SEED seeds the random choices (default random), and SOAK_CSV is the file
// for all samples.
func TestSoak(t *testing.T) {
	r := newRun(t)
	for n := 0; !t.Failed() && (n < r.cycles || time.Since(r.began) < r.lasts); n++ {
		t.Run(fmt.Sprint("cycle_", n), func(t *testing.T) { r.cycle(t, n) })
	}
	r.judge()
}

// run is one run of TestSoak.
type run struct {
	t     *testing.T
	began time.Time
	lasts time.Duration // the least duration
	long  bool
	schedule
	seed     int
	dir      string // data folder
	probe    probe
	operator *operator
	loads    []loads.Load

	mu      sync.Mutex
	life    int           // number of the process; guarded by mu
	samples []Sample      // while the loads work; guarded by mu
	rest    []Sample      // between cycles
	shown   time.Duration // At of the last sample that was logged; guarded by mu
	file    *os.File      // for all samples; nil if not wanted
}

// schedule is the timing of a run.
type schedule struct {
	cycles   int                              // the least number
	lives    func(*rand.Rand) []time.Duration // of the broker in a cycle, until it is killed
	measures time.Duration                    // interval between samples
	operates time.Duration                    // interval between tasks of the operator
}

var (
	short = schedule{
		lives: func(*rand.Rand) []time.Duration {
			return []time.Duration{15 * time.Second, 40 * time.Second}
		},
		cycles: 2, measures: time.Second, operates: 2 * time.Second,
	}
	long = schedule{
		lives: func(rng *rand.Rand) []time.Duration {
			return []time.Duration{
				time.Duration(10+rng.IntN(50)) * time.Second, time.Duration(60+rng.IntN(120)) * time.Second, 15 * time.Minute,
			}
		},
		cycles: 1, measures: 10 * time.Second, operates: 20 * time.Second,
	}
)

func newRun(t *testing.T) *run {
	t.Helper()
	r := &run{t: t, began: time.Now(), schedule: short, seed: rand.IntN(1_000_000), dir: filepath.Join(t.TempDir(), "data")}
	if text := os.Getenv("SOAK_SEED"); text != "" {
		seed, err := strconv.Atoi(text)
		must(t, err)
		r.seed = seed
	}
	if text := os.Getenv("SOAK_HOURS"); text != "" {
		hours, err := strconv.ParseFloat(text, 64)
		must(t, err)
		r.lasts, r.long, r.schedule = time.Duration(hours*float64(time.Hour)), true, long
	}
	r.loads = append(loads.All(), loads.Load{Name: "http", Run: clerkLoad})
	r.operator = &operator{binary: brokertest.Binary(t), data: r.dir, spare: t.TempDir(), every: r.operates, done: map[string]int{}}
	r.operator.tasks = r.operator.usual()
	if os.Getenv(plantLoss) != "" {
		r.plant()
	}
	r.create(os.Getenv("SOAK_CSV"))
	t.Logf("SOAK_SEED=%d", r.seed)
	return r
}

// create creates the file for samples, if one is wanted.
func (r *run) create(path string) {
	if path == "" {
		return
	}
	f, err := os.Create(path)
	must(r.t, err)
	r.t.Cleanup(func() { f.Close() })
	r.file = f
	must(r.t, r.csv(csvHeader()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cycle runs all loads through the kills, lets them check their histories, and then deletes
// everything.
func (r *run) cycle(t *testing.T, n int) {
	seed := r.seed + n
	lives := r.lives(rand.New(rand.NewPCG(uint64(seed), 0)))
	r.operator.vhosts = nil
	for _, l := range r.loads {
		if l.Apart {
			r.operator.vhosts = append(r.operator.vhosts, vhostOf(l, n))
		}
	}
	s := &shared{lives: lives, loads: len(r.loads), start: func() (*brokertest.Broker, error) { return r.start(t.Context()) }}
	s.begun = func(b *brokertest.Broker) *company {
		return enter(t, b, map[string]func(context.Context, *brokertest.Broker) error{
			"metrics": r.sample, "operator": r.operator.run,
			"probe": func(ctx context.Context, b *brokertest.Broker) error { return r.probe.run(ctx, b.URL()) },
		})
	}
	var working sync.WaitGroup
	for _, l := range r.loads {
		working.Go(func() {
			defer s.leave()
			t.Run(l.Name, func(t *testing.T) {
				l.Run(t, loads.Plan{Rounds: len(lives), Seed: seed, Rate: l.Rate}, s.up(t, vhostOf(l, n)))
			})
		})
	}
	working.Wait()
	if !t.Failed() {
		r.clean(t)
	}
}

// vhostOf returns the virtual host of a load in a cycle, as in a URL.
func vhostOf(l loads.Load, cycle int) string {
	if !l.Apart {
		return "%2f"
	}
	return fmt.Sprintf("%s-%d", l.Name, cycle)
}

// start starts the broker and creates the virtual hosts of the cycle.
func (r *run) start(ctx context.Context) (*brokertest.Broker, error) {
	on := "127.0.0.1:0"
	b, err := brokertest.Start(ctx, r.dir, "--sql", on, "--redis", on, "--etcd", on, "--http", on, "--metrics", on, "--shards", "2")
	if err != nil {
		return nil, err
	}
	r.t.Cleanup(b.Kill)
	r.mu.Lock()
	r.life++
	r.mu.Unlock()
	all := map[string]any{"configure": ".*", "write": ".*", "read": ".*"}
	for _, vhost := range r.operator.vhosts {
		err := ask(ctx, b.HTTPAddr(), http.MethodPut, "/api/vhosts/"+vhost, map[string]any{}, nil)
		if err == nil {
			err = ask(ctx, b.HTTPAddr(), http.MethodPut, "/api/permissions/"+vhost+"/guest", all, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// sample takes samples until ctx ends.
func (r *run) sample(ctx context.Context, b *brokertest.Broker) error {
	earlier := Sample{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.measures):
		}
		s, err := r.look(ctx, b)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		addMeans(earlier.Values, s.Values)
		earlier = s
		if err := r.note(s); err != nil {
			return err
		}
	}
}

// look takes a sample.
func (r *run) look(ctx context.Context, b *brokertest.Broker) (Sample, error) {
	r.mu.Lock()
	s := Sample{At: time.Since(r.began), Life: r.life}
	r.mu.Unlock()
	var err error
	if s.Values, err = scrape(ctx, b.MetricsAddr()); err != nil {
		return s, err
	}
	r.probe.take(s.Values)
	cpu, err := b.CPU()
	s.Values[cpuSeconds] = cpu.Seconds()
	return s, err
}

// clean deletes everything, samples the empty broker, and checks its data folder.
func (r *run) clean(t *testing.T) {
	b, err := r.start(t.Context())
	must(t, err)
	defer b.Kill()
	must(t, wipe(t.Context(), b))
	r.operator.vhosts = nil
	must(t, b.Stop())
	b, err = r.start(t.Context())
	must(t, err)
	defer b.Kill()
	s, err := r.look(t.Context(), b)
	must(t, err)
	r.rest = append(r.rest, s)
	t.Logf("at rest\n%s\n%s", header(), row(s))
	must(t, b.Stop())
	if out, err := exec.CommandContext(t.Context(), r.operator.binary, "doctor", r.dir).CombinedOutput(); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}

// note stores a sample, and logs one each minute.
func (r *run) note(s Sample) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, s)
	if s.At-r.shown > time.Minute {
		r.shown = s.At
		r.t.Logf("\n%s\n%s", header(), row(s))
	}
	return r.csv(csvLine(s))
}

// csv writes a line to the file for samples, if one is wanted.
func (r *run) csv(line []string) error {
	if r.file == nil {
		return nil
	}
	out := csv.NewWriter(r.file)
	if err := out.Write(line); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// judge logs the figures, and fails the test for those that have grown.
func (r *run) judge() {
	r.t.Logf("\n%s", table(r.samples, 40))
	r.t.Logf("at rest\n%s", table(r.rest, 40))
	r.t.Logf("what operators did: %v", r.operator.done)
	for _, breach := range Judge(r.samples, r.rest, r.long) {
		r.t.Error(breach)
	}
}
