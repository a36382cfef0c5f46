package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

const (
	latencyRate = 2000 // messages per second
	latencySize = 100  // body bytes
)

// stopwatch records when each message was sent, confirmed and delivered. Message n is at index n-1.
// One queue keeps the order, so the n-th confirm and the n-th delivery belong to the n-th publish.
type stopwatch struct {
	start                    time.Time
	sent, confirmed, arrived []atomic.Int64 // nanoseconds since start; 0 = not yet
}

func newStopwatch(n int) *stopwatch {
	return &stopwatch{start: time.Now(), sent: make([]atomic.Int64, n), confirmed: make([]atomic.Int64, n), arrived: make([]atomic.Int64, n)}
}

func (w *stopwatch) note(at []atomic.Int64, n int64) {
	if n >= 1 && n <= int64(len(at)) {
		at[n-1].CompareAndSwap(0, int64(time.Since(w.start)))
	}
}

// percentiles adds to v the p50, p99 and p99.9 in milliseconds from sent to at, without the first
// skip messages.
func (w *stopwatch) percentiles(v values, name string, at []atomic.Int64, skip int) error {
	var took []int64
	for i := skip; i < len(at); i++ {
		if at[i].Load() == 0 {
			return fmt.Errorf("bench: message %d of %d never came", i+1, len(at))
		}
		took = append(took, at[i].Load()-w.sent[i].Load())
	}
	slices.Sort(took)
	for percent, mille := range map[string]int{" p50": 500, " p99": 990, " p99.9": 999} {
		v[name+percent] = float64(atMille(took, mille)) / 1e6
	}
	return nil
}

// latencies publishes persistent messages with confirms at a fixed rate, one write each, regardless
// of the broker's answers. So a broker that stalls delays all messages that wait meanwhile.
func latencies(ctx context.Context, b *broker, s settings) (values, error) {
	warm := int(s.duration.Seconds() * latencyRate / warmUpShare)
	total := warm + int(s.duration.Seconds()*latencyRate)
	w := newStopwatch(total)
	c := newCrew()
	defer c.stop()
	in, err := c.dial(b.addr)
	if err != nil {
		return nil, err
	}
	if err := in.declareQueue("latency", true); err != nil {
		return nil, err
	}
	cons := &consumer{conn: in, queues: []string{"latency"}, prefetch: usualPrefetch, ackEvery: 1,
		arrived: func(n uint64) { w.note(w.arrived, int64(n)) }}
	if err := cons.start(c); err != nil {
		return nil, err
	}
	out, err := c.dial(b.addr)
	if err != nil {
		return nil, err
	}
	if _, err := out.call(1, confirmSelect, []byte{0}, confirmSelectOK); err != nil {
		return nil, err
	}
	var confirmed atomic.Int64
	c.work(func() error {
		return readConfirms(out, func(tag uint64) { w.note(w.confirmed, int64(tag)) }, confirmed.Store)
	})
	cpu, err := cpuDuring(b.cpu, func() error {
		c.work(func() error { return w.publish(out, total) })
		deadline := time.Now().Add(2*s.duration + 10*time.Second)
		return c.until(ctx, func() bool {
			return confirmed.Load() >= int64(total) && cons.got.Load() >= int64(total) || time.Now().After(deadline)
		})
	})
	if err != nil {
		return nil, err
	}
	v := values{"cpu": microsEach(cpu, int64(total))}
	if err := w.percentiles(v, "confirm", w.confirmed, warm); err != nil {
		return nil, err
	}
	return v, w.percentiles(v, "deliver", w.arrived, warm)
}

// publish sends total messages at the fixed rate.
func (w *stopwatch) publish(k *conn, total int) error {
	one := appendPublish(nil, "", "latency", latencySize, true)
	begin := time.Now()
	for n := range total {
		pause(time.Until(begin.Add(time.Duration(n) * time.Second / latencyRate)))
		w.note(w.sent, int64(n+1))
		if _, err := k.Write(one); err != nil {
			return err
		}
	}
	return nil
}
