package worker

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestExpBackoff(t *testing.T) {
	for n := -1; n <= 100; n++ {
		most := math.Ldexp(float64(time.Second), min(max(n, 1), 36)-1)
		seen := map[time.Duration]bool{}
		for range 50 {
			d := ExpBackoff(n, Exp{})
			seen[d] = true
			if float64(d) < min(most/2, math.MaxInt64) || float64(d) > most {
				t.Fatalf("ExpBackoff(%d) = %v, want %v to %v", n, d, time.Duration(most/2), time.Duration(most))
			}
		}
		if len(seen) < 2 && most < math.MaxInt64 { // else most are the maximum
			t.Errorf("ExpBackoff(%d) has no jitter", n)
		}
	}
	for range 100 {
		if d := ExpBackoff(3, Exp{Factor: time.Millisecond}); d < 2*time.Millisecond || d > 4*time.Millisecond {
			t.Errorf("with factor 1 ms, the third is %v", d)
		}
		if d := ExpBackoff(1, Exp{Min: time.Minute}); d != time.Minute {
			t.Errorf("at least a minute: %v", d)
		}
		if d := ExpBackoff(100, Exp{Max: time.Minute}); d != time.Minute {
			t.Errorf("at most a minute: %v", d)
		}
	}
}

// TestSummary compares a Summary with counting, for all sizes up to more than the window.
func TestSummary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s samples[int]
	if got := s.summary(); got != (Summary[int]{}) {
		t.Errorf("of nothing: %+v", got)
	}
	var all []int
	for range 2*window + 100 {
		v := r.IntN(1000)
		s.add(v)
		all = append(all, v)
		if len(all) > 200 && len(all)%97 != 0 {
			continue
		}
		last := slices.Clone(all[max(0, len(all)-window):])
		got := s.summary()
		sum := 0
		for _, v := range all {
			sum += v
		}
		lastSum := 0
		for _, v := range last {
			lastSum += v
		}
		if got.Count != int64(len(all)) || got.Sum != sum || got.Min != slices.Min(last) || got.Max != slices.Max(last) || got.Mean != lastSum/len(last) {
			t.Fatalf("of %d values: %+v", len(all), got)
		}
		for percent, p := range map[int]int{50: got.P50, 95: got.P95, 99: got.P99} {
			notAbove, below := 0, 0
			for _, v := range last {
				if v <= p {
					notAbove++
				}
				if v < p {
					below++
				}
			}
			if notAbove*100 < percent*len(last) || below*100 >= percent*len(last) {
				t.Fatalf("of %d values: %d %% is %d: %d are not above it, %d below", len(last), percent, p, notAbove, below)
			}
		}
	}
}

// one is a Jobs with a single job, which is taken at once.
type one struct {
	Jobs
	job  Job
	gone bool
}

func (o *one) Take(ctx context.Context, _ TakeOptions) ([]Job, error) {
	if !o.gone {
		o.gone = true
		return []Job{o.job}, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (o *one) Done(context.Context, Lease, time.Duration) error { return nil }

func (o *one) QueueStatus(context.Context, string) (QueueStatus, error) {
	return QueueStatus{Queued: 7, Total: 7}, nil
}

// TestMetrics pins the output for Prometheus.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := &one{job: Job{Lease: Lease{"q", "m", "1"}, Attempt: 1, Lock: time.Minute, Enqueued: time.Now().Add(-3 * time.Second)}}
		handler := func(context.Context, Message[[]byte]) error {
			time.Sleep(250 * time.Millisecond)
			return Done(time.Second)
		}
		w, err := New(jobs, "q", handler, Options{Name: "a \"b\"\n\\"})
		if err != nil {
			t.Fatal(err)
		}
		idle, err := New(jobs, "other", handler, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.Start()
		time.Sleep(time.Second)
		w.Stop(t.Context())
		if s := w.Status(); s.QueueingTime.Max != 3*time.Second || s.HandlingTime.P99 != 250*time.Millisecond || s.QueueSize.Mean != 7 || s.Size != 7 {
			t.Errorf("status %+v", s)
		}
		rec := httptest.NewRecorder()
		MetricsHandler(w, idle).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
		want, err := os.ReadFile("testdata/metrics.txt")
		if err != nil {
			t.Fatal(err)
		}
		if got := rec.Body.String(); got != string(want) {
			t.Errorf("metrics are\n%s", got)
		}
		if !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
			t.Error(rec.Header())
		}
	})
}
