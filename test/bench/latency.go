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

// stopwatch notes when each message left, was confirmed and arrived. Message n stands at n-1; one
// queue keeps the order, so the n-th confirm and the n-th delivery belong to the n-th publish.
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

// percentiles gives the p50 and p99 in milliseconds from sent to at, without the first skip
// messages.
func (w *stopwatch) percentiles(at []atomic.Int64, skip int) (p50, p99 float64, err error) {
	var took []int64
	for i := skip; i < len(at); i++ {
		if at[i].Load() == 0 {
			return 0, 0, fmt.Errorf("bench: message %d of %d never came", i+1, len(at))
		}
		took = append(took, at[i].Load()-w.sent[i].Load())
	}
	slices.Sort(took)
	of := func(percent int) float64 { return float64(took[(len(took)-1)*percent/100]) / 1e6 }
	return of(50), of(99), nil
}

// latencies publishes persistent messages with confirms at a fixed pace, one write each, whatever
// the broker's answers do: a broker that stalls shows all the messages that waited.
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
	before, err := cpuTime(b.pid())
	if err != nil {
		return nil, err
	}
	c.work(func() error { return w.publish(out, total) })
	deadline := time.Now().Add(2*s.duration + 10*time.Second)
	err = c.until(ctx, func() bool {
		return confirmed.Load() >= int64(total) && cons.got.Load() >= int64(total) || time.Now().After(deadline)
	})
	if err != nil {
		return nil, err
	}
	after, err := cpuTime(b.pid())
	if err != nil {
		return nil, err
	}
	confirm50, confirm99, err := w.percentiles(w.confirmed, warm)
	if err != nil {
		return nil, err
	}
	deliver50, deliver99, err := w.percentiles(w.arrived, warm)
	return values{"confirm p50": confirm50, "confirm p99": confirm99, "deliver p50": deliver50, "deliver p99": deliver99,
		"cpu": microsEach(after-before, int64(total))}, err
}

// publish sends total messages at the pace.
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
