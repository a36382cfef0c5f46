package worker

import (
	"math"
	"math/rand/v2"
	"time"
)

// Exp bounds an exponential backoff. The zero value means no bounds and a factor of one second.
type Exp struct {
	Min, Max time.Duration // 0: no bound
	Factor   time.Duration // the first backoff is from half of it to all of it; 0 means a second
}

// maxExponent is the n after which the backoff does not grow.
const maxExponent = 36

// ExpBackoff returns how long to wait after the n-th failure, where n counts from 1. It is random
// between half of factor·2^(n-1) and all of it, so that jobs that failed together do not come back
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

// Always returns a function that always returns d, for Options.Backoff and Options.Throttle.
func Always(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// SlowPolls is a throttle for brokers on which polls are expensive: 200 ms between polls, 100 ms
// with more than 128 jobs in the queue, and 50 ms with more than 256. It is the default of
// Carmine's workers.
func SlowPolls(size int) time.Duration {
	switch {
	case size > 256:
		return 50 * time.Millisecond
	case size > 128:
		return 100 * time.Millisecond
	}
	return 200 * time.Millisecond
}
