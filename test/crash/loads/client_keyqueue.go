package loads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/test/crash/history"
)

const queuePath = "/q/crash"

// queueClient is a program that puts messages into a queue as keys, or consumes them. It exists
// for all rounds.
type queueClient struct {
	history *history.Queue
	rng     *rand.Rand
	pace    *pace // of puts
	name    string
	seq     int
	left    *atomic.Int64 // approximate number of unacknowledged messages
	etcd    *clientv3.Client
}

// queueAhead is the approximate limit of unacknowledged messages. Without it, most of a run would
// be puts.
const queueAhead = 300

// errBreach is wrapped by errors that report a wrong answer of the broker.
var errBreach = errors.New("breach")

// run calls step in a loop on a new connection until there is an error or ctx ends.
func (c *queueClient) run(ctx context.Context, addr string, step func(context.Context) error) (err error) {
	if c.etcd, err = dialEtcd(addr); err != nil {
		return err
	}
	defer c.etcd.Close()
	for err == nil {
		err = step(ctx)
	}
	return fmt.Errorf("%s: %w", c.name, err)
}

// produce puts one message, unless queueAhead is reached.
func (c *queueClient) produce(ctx context.Context) error {
	if c.left.Load() > queueAhead {
		return c.pass(ctx)
	}
	c.pace.wait()
	c.seq++
	msg := fmt.Sprintf("%s-%d", c.name, c.seq)
	c.history.Add(history.QueueEvent{Act: history.QueuePut, Msg: msg})
	if _, err := c.etcd.Put(ctx, fmt.Sprintf("%s/p/%s/%s", queuePath, c.name, msg), msg); err != nil {
		return err
	}
	c.history.Add(history.QueueEvent{Act: history.QueueAnswered, Msg: msg})
	c.left.Add(1)
	return nil
}

// consume is the life of one consumer. It registers with a watch, half of the time with a lease
// too, works for a while, and leaves without acknowledging all it holds.
func (c *queueClient) consume(ctx context.Context) error {
	c.seq++
	me := &queueConsumer{queueClient: c, id: fmt.Sprintf("%s.%d", c.name, c.seq)}
	me.path = fmt.Sprintf("%s/c/%s/", queuePath, me.id)
	var lease clientv3.LeaseID
	if c.rng.IntN(2) == 0 {
		granted, err := c.etcd.Grant(ctx, 600)
		if err != nil {
			return err
		}
		lease = granted.ID
		if _, err := c.etcd.Put(ctx, me.path, "", clientv3.WithLease(lease)); err != nil {
			return err
		}
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	if err := me.work(ctx, c.etcd.Watch(watching, me.path, clientv3.WithPrefix(), clientv3.WithFilterDelete()), 20+c.rng.IntN(200)); err != nil {
		return err
	}
	c.history.Add(history.QueueEvent{Act: history.QueueLeft, Consumer: me.id})
	stop()
	if lease != 0 {
		if _, err := c.etcd.Revoke(ctx, lease); err != nil {
			return err
		}
	}
	return me.awaitGone(ctx)
}

// awaitGone waits until the consumer is no longer registered.
func (c *queueConsumer) awaitGone(ctx context.Context) error {
	deadline := time.Now().Add(patience / 2)
	for {
		r, err := c.etcd.Get(ctx, strings.TrimSuffix(c.path, "/"))
		switch {
		case err != nil:
			return err
		case r.Count == 0:
			c.history.Add(history.QueueEvent{Act: history.QueueGone, Consumer: c.id})
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%w: the consumer %s stays", errBreach, c.id)
		}
		if err := c.pass(ctx); err != nil {
			return err
		}
	}
}

// queueConsumer is a consumer with its own name.
type queueConsumer struct {
	*queueClient
	id, path string
	held     []string // keys of unacknowledged deliveries
}

// work receives this many messages and acknowledges most of them, one or several at a time.
func (c *queueConsumer) work(ctx context.Context, told clientv3.WatchChan, messages int) error {
	for answer := range told {
		if err := answer.Err(); err != nil {
			return err
		}
		for _, e := range answer.Events {
			if err := c.take(string(e.Kv.Key), string(e.Kv.Value)); err != nil {
				return err
			}
			messages--
		}
		for len(c.held) > 0 && c.rng.IntN(8) > 0 {
			if err := c.acknowledge(ctx); err != nil {
				return err
			}
		}
		if messages <= 0 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: a watch ended", errBreach)
}

// take records a delivery.
func (c *queueConsumer) take(key, msg string) error {
	rest, ok := strings.CutPrefix(key, c.path)
	place, name, found := strings.Cut(rest, "/")
	index, err := strconv.ParseInt(place, 10, 64)
	if !ok || !found || err != nil || name != msg {
		return fmt.Errorf("%w: key %q with value %q was told to the watch of %q", errBreach, key, msg, c.path)
	}
	c.history.Add(history.QueueEvent{Act: history.QueueGot, Msg: msg, Consumer: c.id, Place: index})
	c.held = append(c.held, key)
	return nil
}

// acknowledge deletes the oldest key in held.
func (c *queueConsumer) acknowledge(ctx context.Context) error {
	key := c.held[0]
	c.held = c.held[1:]
	msg := key[strings.LastIndexByte(key, '/')+1:]
	c.history.Add(history.QueueEvent{Act: history.QueueAcking, Msg: msg, Consumer: c.id})
	r, err := c.etcd.Delete(ctx, key)
	if err != nil {
		return err
	}
	if r.Deleted != 1 {
		return fmt.Errorf("%w: delete of %q, which is held, deleted %d", errBreach, key, r.Deleted)
	}
	c.history.Add(history.QueueEvent{Act: history.QueueAcked, Msg: msg, Consumer: c.id})
	c.left.Add(-1)
	return nil
}

// pass sleeps for a moment.
func (c *queueClient) pass(ctx context.Context) error {
	select {
	case <-time.After(time.Duration(c.rng.IntN(5)) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waiting returns the broker's count of unacknowledged messages.
func (c *queueClient) waiting(ctx context.Context) (int64, error) {
	r, err := c.etcd.Get(ctx, queuePath+"/0", clientv3.WithRange(queuePath+"/:"), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return r.Count, nil
}

// empty receives and acknowledges all messages.
func (c *queueConsumer) empty(ctx context.Context) error {
	told := c.etcd.Watch(ctx, c.path, clientv3.WithPrefix(), clientv3.WithFilterDelete(), clientv3.WithCreatedNotify())
	for {
		left, err := c.waiting(ctx)
		if err != nil || left == 0 {
			return err
		}
		select {
		case answer := <-told:
			if err := answer.Err(); err != nil {
				return err
			}
			for _, e := range answer.Events {
				if err := c.take(string(e.Kv.Key), string(e.Kv.Value)); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return fmt.Errorf("%d messages are left", left)
		}
		for len(c.held) > 0 {
			if err := c.acknowledge(ctx); err != nil {
				return err
			}
		}
	}
}
