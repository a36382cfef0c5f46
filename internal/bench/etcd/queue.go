package etcd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// stampBytes is the length of the time of the put at the beginning of each value.
const stampBytes = 8

// drainPatience is how long consumers may take for the rest after the producers have stopped.
const drainPatience = time.Minute

// queueRun is a run of the queue load.
type queueRun struct {
	*bench
	puts, deletes tally
	received      []int64 // per consumer
	sent          atomic.Int64
	drained       chan struct{} // closed when everything that was sent is deleted
	stopped       atomic.Bool   // the producers have stopped
}

// queueLoad has producers put messages, and consumers watch and delete them. A message counts when
// its delete is acknowledged. Its latency includes everything from before the put until then.
func queueLoad(ctx context.Context, b *bench) (Load, error) {
	r := &queueRun{bench: b, received: make([]int64, b.o.Consumers), drained: make(chan struct{})}
	r.puts.latency = make([]latency.Histogram, b.o.Producers)
	r.deletes.latency = make([]latency.Histogram, b.o.Consumers*b.o.InFlight)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var consuming sync.WaitGroup
	if err := r.consume(ctx, cancel, &consuming); err != nil {
		return Load{}, err
	}
	began := time.Now()
	if err := r.produce(ctx, cancel, began.Add(b.o.Duration)); err != nil {
		return Load{}, err
	}
	r.stopped.Store(true)
	r.settle()
	select {
	case <-r.drained:
	case <-ctx.Done():
	case <-time.After(drainPatience):
		cancel(fmt.Errorf("%d of %d messages were not consumed", r.sent.Load()-r.deletes.n.Load(), r.sent.Load()))
	}
	took := time.Since(began)
	err := context.Cause(ctx)
	cancel(nil)
	consuming.Wait()
	if err != nil {
		return Load{}, err
	}
	one := r.deletes.load(took)
	puts := r.puts.load(took)
	one.PutP50, one.PutP99 = puts.P50, puts.P99
	one.Least, one.Most = r.received[0], r.received[0]
	for _, n := range r.received {
		one.Least, one.Most = min(one.Least, n), max(one.Most, n)
	}
	return one, nil
}

// consumerPrefix returns the prefix that a consumer watches.
func (r *queueRun) consumerPrefix(n int) string {
	if r.queues {
		return fmt.Sprintf("%s/c/consumer%d/", r.queue(), n)
	}
	return fmt.Sprintf("%sc/%d/", r.prefix, n)
}

// producerKey returns the key of the nth message of a producer. Without queues the messages go
// directly to the consumers, in turn.
func (r *queueRun) producerKey(producer, n int) string {
	name := strconv.Itoa(producer) + "-" + strconv.Itoa(n)
	if r.queues {
		return r.queue() + "/p/" + name
	}
	return r.consumerPrefix((producer+n*r.o.Producers)%r.o.Consumers) + name
}

// consume opens all watches, and starts goroutines that delete the messages.
func (r *queueRun) consume(ctx context.Context, cancel context.CancelCauseFunc, consuming *sync.WaitGroup) error {
	connections, err := r.spread()
	if err != nil {
		return err
	}
	for n := range r.o.Consumers {
		c := connections[n%len(connections)]
		events := c.Watch(ctx, r.consumerPrefix(n), clientv3.WithPrefix(), clientv3.WithCreatedNotify(), clientv3.WithFilterDelete())
		first, open := <-events
		if err := first.Err(); err != nil || !open {
			return errors.Join(err, errors.New("a watch was not opened"))
		}
		todo := make(chan *clientv3.Event, 1024)
		consuming.Go(func() {
			defer close(todo)
			for w := range events {
				if err := w.Err(); err != nil && ctx.Err() == nil {
					cancel(err)
				}
				for _, e := range w.Events {
					r.received[n]++
					select {
					case todo <- e:
					case <-ctx.Done():
						return
					}
				}
			}
		})
		for i := range r.o.InFlight {
			consuming.Go(func() { r.remove(ctx, cancel, c, todo, &r.deletes.latency[n*r.o.InFlight+i]) })
		}
	}
	return nil
}

// remove deletes messages one by one.
func (r *queueRun) remove(ctx context.Context, cancel context.CancelCauseFunc, c *clientv3.Client, todo <-chan *clientv3.Event, h *latency.Histogram) {
	for e := range todo {
		reply, err := c.Delete(ctx, string(e.Kv.Key))
		if err == nil && reply.Deleted != 1 {
			err = fmt.Errorf("key %q was not there any more", e.Kv.Key)
		}
		if err != nil {
			if ctx.Err() == nil {
				cancel(err)
			}
			return
		}
		h.Record(time.Since(stamped(e.Kv.Value)))
		r.deletes.n.Add(1)
		r.settle()
	}
}

// settle closes drained when everything is done.
func (r *queueRun) settle() {
	if r.stopped.Load() && r.deletes.n.Load() == r.sent.Load() && r.stopped.CompareAndSwap(true, false) {
		close(r.drained)
	}
}

// produce puts messages until the deadline.
func (r *queueRun) produce(ctx context.Context, cancel context.CancelCauseFunc, deadline time.Time) error {
	connections, err := r.spread()
	if err != nil {
		return err
	}
	var producing sync.WaitGroup
	for p := range r.o.Producers {
		c := connections[p%len(connections)]
		producing.Go(func() {
			value := make([]byte, r.o.Size)
			for n := 0; time.Now().Before(deadline) && ctx.Err() == nil; n++ {
				at := time.Now()
				stamp(value, at)
				if _, err := c.Put(ctx, r.producerKey(p, n), string(value)); err != nil {
					cancel(err)
					return
				}
				r.puts.latency[p].Record(time.Since(at))
				r.sent.Add(1)
			}
		})
	}
	producing.Wait()
	return context.Cause(ctx)
}

// stamp writes a time to the start of a value.
func stamp(value []byte, at time.Time) {
	binary.BigEndian.PutUint64(value, uint64(at.UnixNano()))
}

func stamped(value []byte) time.Time {
	if len(value) < stampBytes {
		return time.Now()
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(value)))
}
