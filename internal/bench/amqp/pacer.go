package amqp

import "time"

// pacer is the schedule of an open loop: message k of a publisher is due at k/rate after the start,
// whatever happened before.
type pacer struct {
	perSecond float64
	sent      uint64
}

// due returns how many unsent messages are due at elapsed time t, at most limit.
func (p *pacer) due(t time.Duration, limit int) int {
	all := uint64(t.Seconds()*p.perSecond) + 1 // message 0 is due at once
	if all <= p.sent {
		return 0
	}
	return int(min(all-p.sent, uint64(limit)))
}

// next returns the time at which the first unsent message is due.
func (p *pacer) next() time.Duration { return p.at(p.sent) }

// at returns the time at which message k is due.
func (p *pacer) at(k uint64) time.Duration {
	return time.Duration(float64(k) / p.perSecond * float64(time.Second))
}
