package monitor

import (
	"math"
	"time"
)

// trendSamples is the number of samples of a trend: a minute if they are 5 s apart.
const trendSamples = 12

// noticed is the minimum growth of a queue for a trend. The length of a busy queue fluctuates by a
// few messages.
const noticed = 30

// Trend summarizes the last samples of a queue. The zero Trend means that nothing is known.
type Trend struct {
	Over    time.Duration // time from the first of these samples to the newest
	Growth  int           // increase in messages; 0: it did not grow steadily
	Waiting bool          // messages were ready all the time, and none was delivered
	Died    int           // messages that were rejected, returned too often, or dropped from a full queue
}

// QueueTrend returns how a queue has changed lately, by its id. For a queue that is too young it
// returns the zero Trend.
func (m *Monitor) QueueTrend(id uint64) Trend {
	m.mu.RLock()
	defer m.mu.RUnlock()
	h := m.queues[id]
	n := trendSamples
	if h != nil {
		n = min(n, h.depth-1)
	}
	if h.len() <= n {
		return Trend{}
	}
	const messages, ready = 0, 1
	handedOut, dead := queueKind.index("deliver_get"), queueKind.index(died)
	t := Trend{
		Over:    time.Duration((m.clock.time(0) - m.clock.time(n)) * float64(time.Millisecond)),
		Died:    int(h.at(0, dead) - h.at(n, dead)),
		Waiting: h.at(0, handedOut) == h.at(n, handedOut),
	}
	for back := range n + 1 {
		t.Waiting = t.Waiting && h.at(back, ready) > 0
	}
	rises := true
	for part := range 4 { // a single sample is often lower than the one before
		rises = rises && h.at(n*part/4, messages) > h.at(n*(part+1)/4, messages)
	}
	if growth := h.at(0, messages) - h.at(n, messages); rises && growth >= noticed {
		t.Growth = int(growth)
	}
	return t
}

// A forecast uses samples of the last longestLook, and at least of shortestLook.
const (
	longestLook  = 10 * time.Minute
	shortestLook = 5 * time.Minute
)

// Forecast returns when a value of the node, such as disk_free, will reach a bound at the rate of
// the last ten minutes. ok is false if the value does not approach the bound steadily, or if there
// are samples of less than five minutes.
func (m *Monitor) Forecast(name string, bound int64) (left time.Duration, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	h, i := m.node, nodeKind.index(name)
	far := func(back int) float64 { return math.Abs(float64(bound - h.at(back, i))) }
	ago := func(back int) float64 { return m.clock.time(0) - m.clock.time(back) }
	n := 0
	for n+1 < h.len() && ago(n+1) <= float64(longestLook.Milliseconds()) {
		n++
	}
	if n < 3 || ago(n) < float64(shortestLook.Milliseconds()) {
		return 0, false
	}
	for part := range 3 {
		if far(n*part/3) >= far(n*(part+1)/3) {
			return 0, false
		}
	}
	perMS := (far(n) - far(0)) / ago(n)
	left = time.Duration(min(far(0)/perMS, float64(math.MaxInt64/time.Millisecond))) * time.Millisecond
	return left, true
}
