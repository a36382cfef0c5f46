package monitor

import "time"

// Retention of totals: Fine for every sample, and Coarse for one sample a minute.
const (
	Fine   = time.Hour
	Coarse = 24 * time.Hour
)

// clock numbers the samples of one interval and records when each was taken.
type clock struct {
	every time.Duration // between samples
	kept  time.Duration // for how long the times are kept
	n     int           // number of the newest sample, 0 before the first
	wall  int64         // unix ms of the newest sample
	times []float64     // ms since the monitor was made, by the monotonic clock; of sample n at n % len
}

// newClock returns a clock that keeps one more time than histories have samples, because the value
// of an object is 0 at the sample before its first.
func newClock(every, kept time.Duration) *clock {
	return &clock{every: every, kept: kept, times: make([]float64, depth(kept, every)+1)}
}

// depth returns how many samples are kept. One extra sample makes them cover all of kept even if
// the times of samples jitter.
func depth(kept, every time.Duration) int { return int(kept/every) + 2 }

// tick begins the next sample, which was taken since ms after the monitor was made.
func (c *clock) tick(since float64, wall int64) {
	c.n++
	c.times[c.n%len(c.times)], c.wall = since, wall
}

// isDue reports whether a sample taken at since is the next one. It may be a little early, because
// samples jitter.
func (c *clock) isDue(since float64) bool {
	return c.n == 0 || since-c.time(0) > 0.95*float64(c.every.Milliseconds())
}

// time returns when the sample back samples before the newest was taken.
func (c *clock) time(back int) float64 {
	return c.times[(c.n-back+len(c.times))%len(c.times)]
}
