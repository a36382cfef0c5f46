package etcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/bench/parallel"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// fillBatch is the number of keys put in one transaction before a load.
const fillBatch = 100

// filledKey returns the nth key for the range loads. The keys sort by number.
func (b *bench) filledKey(n int) string { return fmt.Sprintf("%sk/%010d", b.prefix, n) }

// fill puts the keys for the range loads.
func (b *bench) fill(ctx context.Context) error {
	connections, err := b.spread()
	if err != nil {
		return err
	}
	b.filled = true
	value := strings.Repeat("x", b.o.Size)
	next := atomic.Int64{}
	return parallel.Do(ctx, 8, func(ctx context.Context, worker int) error {
		for {
			from := int(next.Add(fillBatch)) - fillBatch
			if from >= b.o.Keys || ctx.Err() != nil {
				return nil
			}
			var puts []clientv3.Op
			for n := from; n < min(from+fillBatch, b.o.Keys); n++ {
				puts = append(puts, clientv3.OpPut(b.filledKey(n), value))
			}
			if _, err := connections[worker%len(connections)].Txn(ctx).Then(puts...).Commit(); err != nil {
				return err
			}
		}
	})
}

// repeat has n goroutines repeat step until the time is over.
func (b *bench) repeat(ctx context.Context, n int, step func(ctx context.Context, c *clientv3.Client, rng *rand.Rand) error) (Load, error) {
	connections, err := b.spread()
	if err != nil {
		return Load{}, err
	}
	t := tally{latency: make([]latency.Histogram, n)}
	began := time.Now()
	err = parallel.Do(ctx, n, func(ctx context.Context, worker int) error {
		rng := rand.New(rand.NewPCG(1, uint64(worker))) // #nosec G404 -- a load, the same each time; no secret
		for time.Since(began) < b.o.Duration {
			at := time.Now()
			if err := step(ctx, connections[worker%len(connections)], rng); err != nil {
				return err
			}
			t.latency[worker].Record(time.Since(at))
			t.n.Add(1)
		}
		return nil
	})
	return t.load(time.Since(began)), err
}

// putLoad puts keys, some of which exist already.
func putLoad(ctx context.Context, b *bench) (Load, error) {
	value := strings.Repeat("x", b.o.Size)
	return b.repeat(ctx, b.o.Producers, func(ctx context.Context, c *clientv3.Client, rng *rand.Rand) error {
		_, err := c.Put(ctx, fmt.Sprintf("%sp/%d", b.prefix, rng.IntN(b.o.Keys)), value)
		return err
	})
}

// rangeLoad reads n keys from a random key on, limited by the end of the range.
func rangeLoad(n int) func(context.Context, *bench) (Load, error) {
	return func(ctx context.Context, b *bench) (Load, error) {
		return b.ranges(ctx, n, func(from, n int) clientv3.OpOption { return clientv3.WithRange(b.filledKey(from + n)) })
	}
}

// limitLoad reads n keys from a random key on, limited by the request's limit: the server has to
// count all further keys.
func limitLoad(n int) func(context.Context, *bench) (Load, error) {
	return func(ctx context.Context, b *bench) (Load, error) {
		return b.ranges(ctx, n, func(int, int) clientv3.OpOption { return clientv3.WithRange(b.prefix + "l") }, clientv3.WithLimit(int64(n)))
	}
}

func (b *bench) ranges(ctx context.Context, n int, end func(from, n int) clientv3.OpOption, more ...clientv3.OpOption) (Load, error) {
	n = min(n, b.o.Keys)
	return b.repeat(ctx, b.o.Clients, func(ctx context.Context, c *clientv3.Client, rng *rand.Rand) error {
		from := rng.IntN(b.o.Keys - n + 1)
		r, err := c.Get(ctx, b.filledKey(from), append(more[:len(more):len(more)], end(from, n))...)
		if err == nil && len(r.Kvs) != n {
			err = fmt.Errorf("%d keys, not %d", len(r.Kvs), n)
		}
		return err
	})
}

// countLoad counts all keys.
func countLoad(ctx context.Context, b *bench) (Load, error) {
	return b.repeat(ctx, b.o.Clients, func(ctx context.Context, c *clientv3.Client, _ *rand.Rand) error {
		r, err := c.Get(ctx, b.prefix+"k/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil && r.Count != int64(b.o.Keys) {
			err = fmt.Errorf("%d keys, not %d", r.Count, b.o.Keys)
		}
		return err
	})
}

// watchLoad has producers put a key that all consumers watch. It counts the events that consumers
// get.
func watchLoad(ctx context.Context, b *bench) (Load, error) {
	connections, err := b.spread()
	if err != nil {
		return Load{}, err
	}
	t := tally{latency: make([]latency.Histogram, b.o.Consumers)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	key := b.prefix + "w"
	var watching sync.WaitGroup
	for n := range b.o.Consumers {
		events := connections[n%len(connections)].Watch(ctx, key, clientv3.WithCreatedNotify())
		if _, open := <-events; !open {
			return Load{}, fmt.Errorf("a watch was not opened")
		}
		watching.Go(func() {
			for w := range events {
				now := time.Now()
				for _, e := range w.Events {
					if len(e.Kv.Value) == 0 { // the end mark
						return
					}
					t.latency[n].Record(now.Sub(stamped(e.Kv.Value)))
					t.n.Add(1)
				}
			}
		})
	}
	began := time.Now()
	if _, err := b.repeat(ctx, b.o.Producers, func(ctx context.Context, c *clientv3.Client, _ *rand.Rand) error {
		value := make([]byte, b.o.Size)
		stamp(value, time.Now())
		_, err := c.Put(ctx, key, string(value))
		return err
	}); err != nil {
		return Load{}, err
	}
	if _, err := connections[0].Put(ctx, key, ""); err != nil {
		return Load{}, err
	}
	watching.Wait()
	return t.load(time.Since(began)), nil
}
