package monitor

import "time"

// What is summed up over everything is kept for Fine with every sample, and for Coarse with one
// sample a minute.
const (
	Fine   = time.Hour
	Coarse = 24 * time.Hour
)

// clock numbers samples that are taken in one pace, and knows when each was taken.
type clock struct {
	every time.Duration // between samples
	kept  time.Duration // for how long times are kept
	n     int           // number of the newest sample, 0 before the first
	wall  int64         // unix ms of the newest sample
	times []float64     // ms since the monitor was made, by the monotonic clock; of sample n at n % len
}

// newClock returns a clock that keeps one time more than histories have samples: a thing had
// nothing at the sample before its first.
func newClock(every, kept time.Duration) *clock {
	return &clock{every: every, kept: kept, times: make([]float64, depth(kept, every)+1)}
}

// depth is how many samples are kept: with one to spare, they reach back for all of kept however
// the times of samples jitter.
func depth(kept, every time.Duration) int { return int(kept/every) + 2 }

// tick begins the next sample, which was taken so many ms after the monitor was made.
func (c *clock) tick(since float64, wall int64) {
	c.n++
	c.times[c.n%len(c.times)], c.wall = since, wall
}

// isDue reports whether a sample that was taken then is the next one. One that comes a little early
// is: samples jitter.
func (c *clock) isDue(since float64) bool {
	return c.n == 0 || since-c.time(0) > 0.95*float64(c.every.Milliseconds())
}

// time is when the sample was taken that is this many before the newest.
func (c *clock) time(back int) float64 {
	return c.times[(c.n-back+len(c.times))%len(c.times)]
}
