package main

import (
	"context"
	"fmt"
	"time"
)

const (
	manyConnections = 10_000
	manyQueues      = 10_000
	manyBindings    = 100_000
	boundQueues     = 100 // the queues the bindings lead to
	topicExchange   = "bench.topic"
	askers          = 4  // connections that declare or bind at the same time
	asksPerWrite    = 64 // requests each of them sends before it reads the answers
)

// idleConnections opens connections that do nothing.
func idleConnections(ctx context.Context, b *broker, s settings) (values, error) {
	n := s.scaled(manyConnections, askers)
	c := newCrew()
	defer c.stop()
	start := time.Now()
	err := inParallel(askers, func(int) error {
		for range n / askers {
			k, err := dial(b.addr)
			if err != nil {
				return err
			}
			c.hire(k)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rate := float64(n) / time.Since(start).Seconds()
	if err := c.wait(ctx, settleTime); err != nil {
		return nil, err
	}
	rss, err := residentMB(b.pid())
	return values{"connects": rate, "rss": rss}, err
}

// emptyQueues declares durable queues that stay empty.
func emptyQueues(ctx context.Context, b *broker, s settings) (values, error) {
	n := s.scaled(manyQueues, askers*asksPerWrite)
	rate, err := askAll(ctx, b, n, queueDeclare, queueDeclareOK, func(i int64) []byte {
		return queueDeclareArgs(fmt.Sprintf("empty-%d", i), true, false)
	})
	if err != nil {
		return nil, err
	}
	if err := newCrew().wait(ctx, settleTime); err != nil {
		return nil, err
	}
	rss, err := residentMB(b.pid())
	return values{"declares": rate, "rss": rss}, err
}

// topicBindings binds queues to a topic exchange and compares what a publish through it costs with
// one straight to the queue.
func topicBindings(ctx context.Context, b *broker, s settings) (values, error) {
	n := s.scaled(manyBindings, askers*asksPerWrite)
	admin, err := dialChannel(b.addr)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	args := append(appendShort(appendShort([]byte{0, 0}, topicExchange), "topic"), 0, 0, 0, 0, 0)
	if _, err := admin.call(1, exchangeDeclare, args, exchangeDeclareOK); err != nil {
		return nil, err
	}
	for i := range int64(boundQueues) {
		if err := admin.declareQueue(boundQueue(i), false); err != nil {
			return nil, err
		}
	}
	rate, err := askAll(ctx, b, n, queueBind, queueBindOK, func(i int64) []byte {
		a := appendShort(appendShort([]byte{0, 0}, boundQueue(i)), topicExchange)
		return append(appendShort(a, bindingPattern(i)), 0, 0, 0, 0, 0)
	})
	if err != nil {
		return nil, err
	}
	rss, err := residentMB(b.pid())
	if err != nil {
		return nil, err
	}
	direct, err := publishCost(ctx, b, s, func(dst []byte, i int64) []byte {
		return appendPublish(dst, "", boundQueue(i), 16, false)
	})
	if err != nil {
		return nil, err
	}
	routed, err := publishCost(ctx, b, s, func(dst []byte, i int64) []byte {
		return appendPublish(dst, topicExchange, routedKey(i*routedStride%n), 16, false)
	})
	return values{"binds": rate, "rss": rss, "routing": routed - direct}, err
}

func boundQueue(i int64) string { return fmt.Sprintf("bound-%d", i%boundQueues) }

// bindingPattern i matches routedKey(i) and no other key: a quarter each without wildcard, with one
// at the end, with # and with a leading one.
func bindingPattern(i int64) string {
	switch i % 4 {
	case 0:
		return routedKey(i)
	case 1:
		return fmt.Sprintf("plant.device%d.*", i)
	case 2:
		return fmt.Sprintf("plant.device%d.#", i)
	}
	return fmt.Sprintf("*.device%d.temperature", i)
}

func routedKey(i int64) string { return fmt.Sprintf("plant.device%d.temperature", i) }

// A publisher uses routedKeys different keys, so that no cache of the last key helps. The stride is
// prime, which spreads them over all bindings and over the four kinds of pattern.
const (
	routedKeys   = 9973
	routedStride = 7919
)

// publishCost is the broker's CPU in microseconds per message that goes from one publisher to one
// consumer of all bound queues.
func publishCost(ctx context.Context, b *broker, s settings, one func(dst []byte, i int64) []byte) (float64, error) {
	r := &running{crew: newCrew()}
	defer r.crew.stop()
	in, err := r.crew.dial(b.addr)
	if err != nil {
		return 0, err
	}
	cons := &consumer{conn: in, noAck: true}
	for i := range int64(boundQueues) {
		cons.queues = append(cons.queues, boundQueue(i))
	}
	if err := cons.start(r.crew); err != nil {
		return 0, err
	}
	out, err := r.crew.dial(b.addr)
	if err != nil {
		return 0, err
	}
	p := &publisher{conn: out, perBurst: routedKeys}
	for i := range int64(routedKeys) {
		p.burst = one(p.burst, i)
	}
	if err := p.start(r.crew); err != nil {
		return 0, err
	}
	r.pubs, r.cons = []*publisher{p}, []*consumer{cons}
	o, err := r.measure(ctx, b, s.duration)
	return o.cpu, err
}

// askAll sends n requests over several connections, each writing many before it reads their
// answers, and returns the answers per second.
func askAll(ctx context.Context, b *broker, n int64, ask, answer methodID, args func(i int64) []byte) (float64, error) {
	start := time.Now()
	err := inParallel(askers, func(worker int) error {
		k, err := dialChannel(b.addr)
		if err != nil {
			return err
		}
		defer k.Close()
		for i := int64(worker); i < n; {
			var frames []byte
			asked := 0
			for ; i < n && asked < asksPerWrite; i += askers {
				frames = appendMethod(frames, 1, ask, args(i))
				asked++
			}
			if _, err := k.Write(frames); err != nil {
				return err
			}
			for range asked {
				if _, err := k.expect(answer); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	return float64(n) / time.Since(start).Seconds(), err
}

// inParallel runs f in n goroutines and returns a failure of one of them.
func inParallel(n int, f func(worker int) error) error {
	results := make(chan error, n)
	for i := range n {
		go func() { results <- f(i) }()
	}
	var failure error
	for range n {
		if err := <-results; err != nil && failure == nil {
			failure = err
		}
	}
	return failure
}
