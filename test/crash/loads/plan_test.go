package loads

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// waits returns when each of n clients may begin, relative to the first, with a pause before one of
// them.
func waits(p *pace, n, pauseBefore int) (at []time.Duration) {
	began := time.Now()
	for i := range n {
		if i == pauseBefore {
			<-time.After(time.Minute)
		}
		p.wait()
		at = append(at, time.Since(began))
	}
	return at
}

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		pace           *pace
		n, pauseBefore int
		want           []time.Duration
	}{
		"none":                       {Plan{}.pace(5), 3, -1, []time.Duration{0, 0, 0}},
		"one by one":                 {Plan{Rate: 4}.pace(1), 4, -1, []time.Duration{0, 250 * ms, 500 * ms, 750 * ms}},
		"bursts":                     {Plan{Rate: 6}.pace(3), 7, -1, []time.Duration{0, 0, 0, 500 * ms, 500 * ms, 500 * ms, 1000 * ms}},
		"a pause is not made up for": {Plan{Rate: 4}.pace(1), 3, 1, []time.Duration{0, time.Minute, time.Minute + 250*ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := waits(c.pace, c.n, c.pauseBefore); !slices.Equal(got, c.want) {
					t.Errorf("they begin at %v, want %v", got, c.want)
				}
			})
		})
	}
}
