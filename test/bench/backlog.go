package main

import (
	"context"
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
)

const (
	backlogQueue = "backlog"
	backlogSize  = 100 // body bytes
)

// backlog fills one durable queue with n persistent messages with bodies of size bytes, restarts
// the broker on them, and drains them with acks.
func backlog(n int64, size int) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		n := s.scaled(n, burstMessages*usualAckEvery) // a multiple of both, so that bursts and acks come out even
		fill, err := fillQueue(ctx, b, n, size)
		if err != nil {
			return nil, err
		}
		v := values{"fill": fill}
		if err := v.restart(ctx, b); err != nil {
			return nil, err
		}
		v["drain"], err = drainQueue(ctx, b, n)
		return v, err
	}
}

// restart measures the broker's memory and disk space, and a restart.
func (v values) restart(ctx context.Context, b *broker) (err error) {
	if v["rss"], err = b.settledMB(ctx); err != nil {
		return err
	}
	if v["disk"], err = folderMB(b.dir); err != nil {
		return err
	}
	took, err := b.restart(ctx)
	if err != nil {
		return err
	}
	v["restart"] = took.Seconds()
	v["rss after"], err = b.settledMB(ctx)
	return err
}

// fillQueue publishes n messages with confirms and returns the messages per second up to the last
// confirm.
func fillQueue(ctx context.Context, b *broker, n int64, size int, args ...message.Field) (float64, error) {
	c := newCrew()
	defer c.stop()
	k, err := c.dial(b.addr)
	if err != nil {
		return 0, err
	}
	if err := k.declareQueue(backlogQueue, true, args...); err != nil {
		return 0, err
	}
	p := &publisher{conn: k, burst: burstOf(burstMessages, "", backlogQueue, size, true), perBurst: burstMessages,
		window: usualWindow, limit: n}
	start := time.Now()
	if err := p.start(c); err != nil {
		return 0, err
	}
	if err := c.until(ctx, func() bool { return p.confirmed.Load() >= n }); err != nil {
		return 0, err
	}
	return float64(n) / time.Since(start).Seconds(), nil
}

// drainQueue checks that n messages are there, consumes them, and returns the messages per second.
func drainQueue(ctx context.Context, b *broker, n int64) (float64, error) {
	c := newCrew()
	defer c.stop()
	k, err := c.dial(b.addr)
	if err != nil {
		return 0, err
	}
	depth, err := k.queueDepth(backlogQueue)
	if err != nil {
		return 0, err
	}
	if depth != n {
		return 0, fmt.Errorf("bench: %s has %d messages after its restart, %d were confirmed", b.peer.name, depth, n)
	}
	return consumed(ctx, c, k, n, nil)
}

// consumed consumes n messages and returns the messages per second.
func consumed(ctx context.Context, c *crew, k *conn, n int64, args message.Table) (float64, error) {
	s := &consumer{conn: k, queues: []string{backlogQueue}, prefetch: usualPrefetch, ackEvery: usualAckEvery, args: args}
	start := time.Now()
	if err := s.start(c); err != nil {
		return 0, err
	}
	if err := c.until(ctx, func() bool { return s.got.Load() >= n }); err != nil {
		return 0, err
	}
	return float64(n) / time.Since(start).Seconds(), nil
}

// stream fills a stream with n messages, and reads them from the first on, with acks.
func stream(n int64) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		n := s.scaled(n, burstMessages*usualAckEvery)
		fill, err := fillQueue(ctx, b, n, backlogSize, message.Field{Name: "x-queue-type", Value: "stream"})
		if err != nil {
			return nil, err
		}
		c := newCrew()
		defer c.stop()
		k, err := c.dial(b.addr)
		if err != nil {
			return nil, err
		}
		read, err := consumed(ctx, c, k, n, message.Table{{Name: "x-stream-offset", Value: "first"}})
		if err != nil {
			return nil, err
		}
		rss, err := b.residentMB()
		return values{"fill": fill, "read": read, "rss": rss}, err
	}
}
