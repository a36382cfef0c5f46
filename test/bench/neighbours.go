package main

import (
	"context"
	"time"
)

// A nuisance is a badly behaved client. It joins the crew of the load it disturbs.
type nuisance func(c *crew, addr string) error

// neighbours measures a load alone, then again next to a nuisance: the share of its speed that is
// left, and the broker's memory.
func neighbours(disturb nuisance) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		l := load{size: 100, pubs: 1, cons: 1, queues: 1, prefetch: usualPrefetch, ackEvery: usualAckEvery}
		r, err := l.begin(b.addr, "neighbour")
		if err != nil {
			return nil, err
		}
		defer r.crew.stop()
		alone, err := r.measure(ctx, b, s.duration)
		if err != nil {
			return nil, err
		}
		if err := disturb(r.crew, b.addr); err != nil {
			return nil, err
		}
		together, err := r.measure(ctx, b, s.duration)
		if err != nil {
			return nil, err
		}
		rss, err := b.residentMB()
		return values{"alone": alone.got, "kept": 100 * together.got / alone.got, "rss": rss}, err
	}
}

// slowConsumer takes ten messages a second from a queue that gets 500.
func slowConsumer(c *crew, addr string) error {
	if err := trickle(c, addr, "slow", 500, 1<<10); err != nil {
		return err
	}
	k, err := c.dial(addr)
	if err != nil {
		return err
	}
	s := &consumer{conn: k, queues: []string{"slow"}, prefetch: 10, ackEvery: 1,
		arrived: func(uint64) { time.Sleep(100 * time.Millisecond) }}
	return s.start(c)
}

const (
	stuckPublishers = 50
	stuckBody       = 1 << 20 // announced; half of it is sent
)

// stuckPublisher announces large bodies on many connections and never finishes them.
func stuckPublisher(c *crew, addr string) error {
	frames := appendMethod(nil, 1, basicPublish, append(appendShort(appendShort([]byte{0, 0}, ""), "neighbour-0"), 0))
	frames = appendHeader(frames, stuckBody, false)
	piece := make([]byte, 64<<10)
	for range stuckBody / 2 / len(piece) {
		frames = appendFrame(frames, frameBody, 1, piece)
	}
	for range stuckPublishers {
		k, err := c.dial(addr)
		if err != nil {
			return err
		}
		if _, err := k.Write(frames); err != nil {
			return err
		}
	}
	return nil
}

// neverReading subscribes without acks to a queue with 4 MB/s, soon more than the socket buffers
// hold, and reads nothing.
func neverReading(c *crew, addr string) error {
	if err := trickle(c, addr, "unread", 500, 8<<10); err != nil {
		return err
	}
	k, err := c.dial(addr)
	if err != nil {
		return err
	}
	s := &consumer{conn: k, queues: []string{"unread"}, noAck: true}
	return s.subscribe()
}

// trickle declares a queue and publishes transient messages to it, rate a second in bursts of a
// hundredth.
func trickle(c *crew, addr, queue string, rate, size int) error {
	k, err := c.dial(addr)
	if err != nil {
		return err
	}
	if err := k.declareQueue(queue, false); err != nil {
		return err
	}
	burst := burstOf(rate/100, "", queue, size, false)
	c.work(func() error {
		for {
			if _, err := k.Write(burst); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return nil
}
