package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"fiveways.dev/fiveways/internal/bench/parallel"
)

const (
	idleConsumers = 1000
	idleTimes     = 4 // in settings' durations: CPU time is counted in steps of 10 ms
	pageAsks      = 200
	manyBindings  = 100_000
	boundQueues   = 100 // the queues the bindings lead to
	topicExchange = "bench.topic"
	askers        = 4  // connections that declare or bind concurrently
	asksPerWrite  = 64 // requests that each of them sends before it reads the answers
)

// idleConnections opens n connections that do nothing. Each asker dials from its own address, since
// one address has ports for only 28,000 connections to a server.
func idleConnections(n int64) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		n := s.scaled(n, askers)
		c := newCrew()
		defer c.stop()
		start := time.Now()
		err := parallel.Do(ctx, askers, func(ctx context.Context, worker int) error {
			from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+worker))}
			for range n / askers {
				k, err := dialFrom(from, b.addr)
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
		rss, err := b.residentMB()
		return values{"connects": rate, "rss": rss}, err
	}
}

// idle measures the CPU, in percent of a core, of a broker whose connections each consume from a
// queue in which nothing happens.
func idle(ctx context.Context, b *broker, s settings) (values, error) {
	c := newCrew()
	defer c.stop()
	for i := range s.scaled(idleConsumers, 1) {
		k, err := c.dial(b.addr)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("idle-%d", i)
		if err := k.declareQueue(name, true); err != nil {
			return nil, err
		}
		if err := (&consumer{conn: k, queues: []string{name}, prefetch: usualPrefetch}).subscribe(); err != nil {
			return nil, err
		}
	}
	if err := c.wait(ctx, settleTime); err != nil {
		return nil, err
	}
	took := idleTimes * s.duration
	cpu, err := cpuDuring(b.cpu, func() error { return c.wait(ctx, took) })
	return values{"cpu": 100 * cpu.Seconds() / took.Seconds()}, err
}

// emptyQueues declares n durable queues that stay empty.
func emptyQueues(n int64) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		n := s.scaled(n, askers*asksPerWrite)
		rate, err := askAll(ctx, b, n, queueDeclare, queueDeclareOK, func(i int64) []byte {
			return queueDeclareArgs(fmt.Sprintf("empty-%d", i), true, false)
		})
		if err != nil {
			return nil, err
		}
		rss, err := b.settledMB(ctx)
		return values{"declares": rate, "rss": rss}, err
	}
}

// manyEmptyQueues is emptyQueues, then a restart, and a request for the first page of the queue
// list.
func manyEmptyQueues(n int64) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		v, err := emptyQueues(n)(ctx, b, s)
		if err != nil {
			return nil, err
		}
		if err := v.restart(ctx, b); err != nil {
			return nil, err
		}
		page := &question{name: "page", url: "http://broker" + firstPage}
		local := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(b.dir, "data", "admin.sock"))
		}}}
		defer local.CloseIdleConnections()
		for range pageAsks {
			if err := page.ask(ctx, local); err != nil {
				return nil, err
			}
		}
		page.percentiles(v)
		return v, nil
	}
}

// topicBindings binds queues to a topic exchange, and compares the cost of a publish through it
// with that of one directly to the queue.
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
	rss, err := b.residentMB()
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

// bindingPattern returns pattern i, which matches routedKey(i) and no other key. A quarter each has
// no wildcard, one at the end, a #, and a leading one.
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

// publishCost returns the broker's CPU time in microseconds per message that goes from one
// publisher to one consumer of all bound queues.
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

// askAll sends n requests over several connections and returns the answers per second. Each
// connection sends many requests before it reads the answers.
func askAll(ctx context.Context, b *broker, n int64, ask, answer methodID, args func(i int64) []byte) (float64, error) {
	start := time.Now()
	err := parallel.Do(ctx, askers, func(ctx context.Context, worker int) error {
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
