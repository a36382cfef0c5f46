package main

import (
	"context"
	"fmt"
	"time"
)

// load describes publishers and consumers working at full speed.
type load struct {
	size     int // body size in bytes
	pubs     int
	cons     int
	queues   int // publisher and consumer number i use queue i modulo queues
	persist  bool
	window   int64 // unconfirmed messages per publisher, 0 = no confirms; below burstMessages they leave in such bursts
	noAck    bool
	prefetch uint16
	ackEvery uint64
}

const (
	burstMessages   = 64
	usualPrefetch   = 1000
	usualAckEvery   = 100
	usualWindow     = 2000
	warmUpShare     = 4 // a load runs for 1/4 of its measured time before measuring starts
	settleTime      = 3 * time.Second
	microsPerSecond = 1e6
)

// outcome is what a load did during the measured time.
type outcome struct {
	sent, got float64 // messages per second
	cpu       float64 // microseconds of the broker's CPU per message, over the larger of sent and got
}

// running is a load in progress.
type running struct {
	crew *crew
	pubs []*publisher
	cons []*consumer
}

// begin declares the queues of l, named after prefix, and starts all clients. The caller stops the
// crew.
func (l load) begin(addr, prefix string) (*running, error) {
	r := &running{crew: newCrew()}
	if err := r.open(addr, prefix, l); err != nil {
		r.crew.stop()
		return nil, err
	}
	return r, nil
}

func (r *running) open(addr, prefix string, l load) error {
	name := func(i int) string { return fmt.Sprintf("%s-%d", prefix, i%l.queues) }
	admin, err := r.crew.dial(addr)
	if err != nil {
		return err
	}
	for i := range l.queues {
		if err := admin.declareQueue(name(i), l.persist); err != nil {
			return err
		}
	}
	for i := range l.cons {
		k, err := r.crew.dial(addr)
		if err != nil {
			return err
		}
		s := &consumer{conn: k, queues: []string{name(i)}, noAck: l.noAck, prefetch: l.prefetch, ackEvery: l.ackEvery}
		if err := s.start(r.crew); err != nil {
			return err
		}
		r.cons = append(r.cons, s)
	}
	for i := range l.pubs {
		k, err := r.crew.dial(addr)
		if err != nil {
			return err
		}
		burst := burstMessages
		if l.window > 0 {
			burst = min(burst, int(l.window))
		}
		p := &publisher{conn: k, burst: burstOf(burst, "", name(i), l.size, l.persist), perBurst: int64(burst), window: l.window}
		if err := p.start(r.crew); err != nil {
			return err
		}
		r.pubs = append(r.pubs, p)
	}
	return nil
}

// totals returns the messages sent and received so far. With confirms only confirmed messages count
// as sent.
func (r *running) totals() (sent, got int64) {
	for _, p := range r.pubs {
		if p.window > 0 {
			sent += p.confirmed.Load()
		} else {
			sent += p.sent.Load()
		}
	}
	for _, s := range r.cons {
		got += s.got.Load()
	}
	return sent, got
}

// measure lets the load warm up and then measures it for d.
func (r *running) measure(ctx context.Context, b *broker, d time.Duration) (outcome, error) {
	if err := r.crew.wait(ctx, d/warmUpShare); err != nil {
		return outcome{}, err
	}
	var seconds float64
	var sent, got int64
	cpu, err := cpuDuring(b.cpu, func() error {
		start := time.Now()
		sent0, got0 := r.totals()
		err := r.crew.wait(ctx, d)
		sent, got = r.totals()
		sent, got, seconds = sent-sent0, got-got0, time.Since(start).Seconds()
		return err
	})
	if err != nil {
		return outcome{}, err
	}
	messages := max(sent, got)
	if messages == 0 {
		return outcome{}, fmt.Errorf("bench: no message passed in %v", d)
	}
	return outcome{sent: float64(sent) / seconds, got: float64(got) / seconds, cpu: microsEach(cpu, messages)}, nil
}

// throughput runs l alone on the broker.
func throughput(l load) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		r, err := l.begin(b.addr, "load")
		if err != nil {
			return nil, err
		}
		defer r.crew.stop()
		o, err := r.measure(ctx, b, s.duration)
		if err != nil {
			return nil, err
		}
		rss, err := b.residentMB()
		return values{"delivered": o.got, "cpu": o.cpu, "rss": rss}, err
	}
}
