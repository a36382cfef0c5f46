package monitor

import (
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/histogram"
)

// Quantiles are the 50th and 99th percentiles of the measurements, in ms.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Latency is the latency of the log in some period. A field is nil if nothing was measured.
type Latency struct {
	Fsync   *Quantiles `json:"fsync,omitempty"`
	Confirm *Quantiles `json:"confirm,omitempty"`
}

// LatencyPoint is the latency in the step that ends at Timestamp.
type LatencyPoint struct {
	Latency
	Timestamp int64 `json:"timestamp"` // unix ms
}

// latencies keeps the state of histograms at each sample, so that the quantiles of any step are
// those of all measurements in it.
type latencies struct {
	clock *clock
	read  []measured // sample n is at (n-1) % the maximum number of samples
}

type measured struct{ sync, confirm histogram.Snapshot }

func newLatencies(c *clock) *latencies { return &latencies{clock: c} }

// add records the histograms at the newest sample of the clock.
func (l *latencies) add(now *broker.Latencies) {
	v := measured{now.Sync, now.Confirm}
	if most := len(l.clock.times); len(l.read) == most {
		l.read[(l.clock.n-1)%most] = v
		return
	}
	l.read = append(l.read, v)
}

// at returns the histograms at the sample back samples before the newest.
func (l *latencies) at(back int) *measured { return &l.read[(l.clock.n-1-back)%len(l.clock.times)] }

// between returns the latency from one sample to another. A sample is given by the number of
// samples after it.
func (l *latencies) between(from, to int) Latency {
	a, b := l.at(from), l.at(to)
	return Latency{quantiles(&a.sync, &b.sync), quantiles(&a.confirm, &b.confirm)}
}

func quantiles(before, after *histogram.Snapshot) *Quantiles {
	d := after.Since(before)
	if d.Count() == 0 {
		return nil
	}
	return &Quantiles{d.Quantile(0.5) / float64(time.Millisecond), d.Quantile(0.99) / float64(time.Millisecond)}
}

// Latency returns the latency between the last two samples.
func (m *Monitor) Latency() Latency {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.took.read) < 2 {
		return Latency{}
	}
	return m.took.between(1, 0)
}

// Latencies returns past latencies in steps, newest first. Each step ends at a sample, and includes
// all measurements since the end of the step before it.
func (m *Monitor) Latencies(s Span) (out []LatencyPoint) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	l := m.took
	if s.Age > Fine {
		l = m.tookSlow
	}
	if s.Every <= 0 || len(l.read) == 0 {
		return nil
	}
	c := l.clock
	newest, to := c.time(0), 0
	for ago := s.Every; ago <= s.Age; ago += s.Every {
		// The step ends at the nearest sample, so that every sample is used once even if the times
		// jitter.
		at, from := newest-float64(ago.Milliseconds()), to
		for from+1 < len(l.read) && c.time(from+1) > at-float64(c.every.Milliseconds())/2 {
			from++
		}
		if from > to {
			out = append(out, LatencyPoint{l.between(from, to), c.wall - int64(newest-c.time(to))})
			to = from
		}
	}
	return out
}
