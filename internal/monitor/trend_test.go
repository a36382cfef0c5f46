package monitor

import (
	"math"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/histogram"
)

// If the rate is steady, every step of a day has it, though only one sample a minute is kept. A
// range is answered only as far as there is history.
func TestSteadyOverADay(t *testing.T) {
	n, now := startAt(t)
	defer n.end()
	began := *now
	for i := 0; now.Sub(began) < 30*time.Hour; i++ {
		count := uint64(now.Sub(began).Seconds() * 2000)
		n.e = Edge{Received: count}
		n.m.Sample()
		*now = now.Add(20*time.Second + time.Duration(i%7-3)*time.Second)
	}
	for _, every := range []time.Duration{5 * time.Minute, 12 * time.Minute, time.Hour} {
		f := n.m.Node(Query{Node: Span{24 * time.Hour, every}})
		requireSteady(t, every.String(), f, "recv_oct", 2000)
		for i := range f {
			if got, want := len(f[i].Details.Samples), int(24*time.Hour/every)+1; got != want {
				t.Errorf("every %v %s has %d samples, want %d", every, f[i].Name, got, want)
			}
		}
	}
	if since := n.m.Since(); since != began.UnixMilli() {
		t.Errorf("history begins at %d, want %d", since, began.UnixMilli())
	}
}

// Each fsync is in exactly one step of the history of latencies, whatever the steps are. A step
// without writes has none.
func TestLatencies(t *testing.T) {
	const slow, fast, perSample = 1 << 27, 1 << 20, 100 // ns
	var h histogram.Histogram
	c := newClock(every, Fine)
	m := &Monitor{clock: c, took: newLatencies(c), slow: newClock(time.Minute, Coarse)}
	m.tookSlow = newLatencies(m.slow)
	at := 0.0
	for i := range 2000 { // more than are kept
		at += float64(5000 + (i%5-2)*300)
		for _, l := range []*latencies{m.took, m.tookSlow} {
			if l.clock != c && !l.clock.isDue(at) {
				continue
			}
			l.clock.tick(at, int64(at))
			l.read = appendRing(l, measured{sync: h.Read()})
		}
		if i < 1990 {
			h.Observe(fast, perSample)
		}
		if i == 1800 {
			h.Observe(slow, 3)
		}
	}
	for _, s := range []Span{{10 * time.Minute, every}, {time.Hour, 30 * time.Second}, {time.Hour, 7 * time.Second}, {24 * time.Hour, 12 * time.Minute}} {
		points, slowOnes, none := m.Latencies(s), 0, 0
		if got, most := len(points), int(s.Age/min(s.Every, s.Age)); got < 10 || got > most {
			t.Errorf("%v: %d points", s, got)
		}
		for i, p := range points {
			if i > 0 && p.Timestamp >= points[i-1].Timestamp {
				t.Errorf("%v: point %d is at %d, after one at %d", s, i, p.Timestamp, points[i-1].Timestamp)
			}
			switch {
			case p.Fsync == nil:
				none++
			case p.Fsync.P99 > 50:
				slowOnes++
			case p.Fsync.P50 < 1 || p.Fsync.P50 > 2.1:
				t.Errorf("%v: point %d has a median of %v ms", s, i, p.Fsync.P50)
			}
			if p.Confirm != nil {
				t.Errorf("%v: a confirm that nobody waited for took %v", s, p.Confirm)
			}
		}
		if every := time.Duration(s.Every); every < time.Minute && none == 0 {
			t.Errorf("%v: nothing was written at the end, and it took some time", s)
		}
		if s.Age == time.Hour && s.Every < 30*time.Second && slowOnes != 1 {
			t.Errorf("%v: the slow ones are in %d steps", s, slowOnes)
		}
	}
}

// appendRing adds a measurement as latencies.add does.
func appendRing(l *latencies, v measured) []measured {
	if most := len(l.clock.times); len(l.read) == most {
		l.read[(l.clock.n-1)%most] = v
		return l.read
	}
	return append(l.read, v)
}

// A queue grows if its length rises steadily, not if it goes up and down. It waits if nothing is
// delivered from it.
func TestQueueTrend(t *testing.T) {
	n, now := startAt(t)
	defer n.end()
	for _, name := range []string{"grows", "busy", "waits", "drains"} {
		n.declare(name)
	}
	n.publish("waits", 3)
	n.publish("drains", 500)
	for i := range 14 {
		n.m.Sample()
		if i == 10 {
			n.declare("young")
			n.publish("young", 100)
		}
		n.publish("grows", 10)
		n.publish("busy", 50)
		n.take("busy", 50-i%2*40)
		if i%2 == 0 {
			n.take("busy", min(i*40, 40))
		}
		n.take("drains", 20)
		*now = now.Add(every)
	}
	want := map[string]Trend{
		"grows": {Over: time.Minute, Growth: 120, Waiting: true}, "busy": {Over: time.Minute}, "waits": {Over: time.Minute, Waiting: true},
		"drains": {Over: time.Minute}, "young": {},
	}
	for name, want := range want {
		if got := n.m.QueueTrend(n.status(name).ID); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A forecast needs five minutes in which the value approaches the bound steadily.
func TestForecast(t *testing.T) {
	memory := int64(1 << 30)
	n, now := startAt(t)
	defer n.end()
	n.m.o.Process = func() Process { return Process{Memory: memory} }
	run := func(d time.Duration, perSecond int64) {
		for range int(d / every) {
			n.m.Sample()
			*now = now.Add(every)
			memory += perSecond * int64(every.Seconds())
		}
	}
	const limit = 2 << 30
	run(4*time.Minute, 1<<20)
	if left, ok := n.m.Forecast("mem_used", limit); ok {
		t.Errorf("after four minutes: %v", left)
	}
	run(6*time.Minute, 1<<20)
	want := time.Duration(limit-memory+1<<20*int64(every.Seconds())) * time.Second / (1 << 20)
	if left, ok := n.m.Forecast("mem_used", limit); !ok || math.Abs(float64(left-want)) > 0.05*float64(want) {
		t.Errorf("%v, %v; want %v", left, ok, want)
	}
	run(5*time.Minute, 0)
	if left, ok := n.m.Forecast("mem_used", limit); ok {
		t.Errorf("when it has stopped: %v", left)
	}
	run(10*time.Minute, -1<<20)
	if left, ok := n.m.Forecast("mem_used", limit); ok {
		t.Errorf("when it falls: %v", left)
	}
}
