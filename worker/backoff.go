package worker

import (
	"math"
	"math/rand/v2"
	"time"
)

// Exp bounds an exponential backoff. The zero value has no bounds and a factor of one second.
type Exp struct {
	Min, Max time.Duration // 0: no bound
	Factor   time.Duration // what it starts with: the first is between half of it and all of it; 0 is a second
}

// maxExponent: for greater n the backoff does not grow.
const maxExponent = 36

// ExpBackoff is how long to wait after the n-th time, n counting from 1: between half of
// factor·2^(n-1) and all of it, at random, so that jobs that failed together do not come back
// together.
func ExpBackoff(n int, e Exp) time.Duration {
	factor := e.Factor
	if factor <= 0 {
		factor = time.Second
	}
	base := math.Ldexp(float64(factor), min(max(n, 1), maxExponent)-1)
	d := time.Duration(math.MaxInt64)
	if t := base * (0.5 + 0.5*rand.Float64()); t < math.MaxInt64 { // #nosec G404 -- spreads retries; no secret
		d = time.Duration(t)
	}
	d = max(d, e.Min)
	if e.Max > 0 {
		d = min(d, e.Max)
	}
	return d
}

// Always is a time that depends on nothing: for Options.Backoff and Options.Throttle.
func Always(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// SlowPolls is a throttle for brokers that suffer from polls: 200 ms between two, 100 ms when more
// than 128 jobs are in the queue, and 50 ms when more than 256 are. It is the default of Carmine's
// workers.
func SlowPolls(size int) time.Duration {
	switch {
	case size > 256:
		return 50 * time.Millisecond
	case size > 128:
		return 100 * time.Millisecond
	}
	return 200 * time.Millisecond
}
