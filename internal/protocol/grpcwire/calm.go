package grpcwire

import "time"

// What a client may do for nothing, at once and per second. Real clients stay far
// below: one that gives up 10,000 calls at once, say, opens them again slower.
const (
	calmBurst, calmRate   = 10_000, 1_000 // pings, settings, empty data, priorities, unknown frames
	resetBurst, resetRate = 20_000, 2_000 // calls that it resets
)

// bucket bounds how often something may happen.
type bucket struct {
	burst, rate float64
	left        float64
	at          time.Time // when left was right
}

func newBucket(burst, rate float64) bucket {
	return bucket{burst: burst, rate: rate, left: burst, at: time.Now()}
}

// take tells whether it may happen once more.
func (b *bucket) take() bool {
	if b.left < 1 {
		now := time.Now()
		b.left = min(b.burst, b.left+b.rate*now.Sub(b.at).Seconds())
		b.at = now
		if b.left < 1 {
			return false
		}
	}
	b.left--
	return true
}
