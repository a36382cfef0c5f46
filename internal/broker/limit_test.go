package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/selector"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// settled waits until all shards have handled the consequences of the last operations.
func settled(t *testing.T, b *Broker) {
	t.Helper()
	for range 4 {
		for _, sh := range b.set.All {
			must(t, sh.Call(func() {}))
		}
	}
}

// received removes and returns the deliveries so far.
func (c *client) received() []shard.Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	ds := c.got
	c.got = nil
	return ds
}

// A slot that a consumer took and did not need passes to a waiting consumer of another queue.
func TestUnneededPlaceGoesOn(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 2 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	limit := shard.NewLimit(1)
	for _, name := range []string{"a", "b", "d"} {
		c.queue(name, nil)
		c.consume(name, func(s *shard.ConsumerSpec) { s.Tag, s.Limit = name, limit })
	}
	c.post("", "a", "1", nil)
	c.Flush()
	first := c.take(1)[0]
	c.post("", "b", "2", nil)
	c.post("", "d", "3", nil)
	c.Flush()
	settled(t, b)
	purged, err := c.PurgeQueue("b")
	if err != nil || purged != 1 {
		t.Fatalf("purged %d, %v", purged, err)
	}
	c.Ack(first.Queue, first.Consumer, first.Handle, 1) // b does not need it
	c.Flush()
	if got := c.take(1)[0]; got.Consumer.Tag != "d" {
		t.Errorf("%s got the place", got.Consumer.Tag)
	}
}

// If one limit covers several queues with two consumers each, the queues take turns, and so do the
// consumers of each, however the next consumer is chosen and whatever the queues' shards.
func TestLimitIsShared(t *testing.T) {
	const queues, each, limit = 3, 24, 1
	all, err := selector.Compile("nothing IS NULL")
	must(t, err)
	for name, how := range map[string]struct {
		args  func(*QueueSpec)
		spec  func(*shard.ConsumerSpec)
		lone  bool // one consumer of a queue gets everything
		shard int
	}{
		"plain":         {shard: 1},
		"shards":        {shard: 4},
		"own prefetch":  {shard: 4, spec: func(s *shard.ConsumerSpec) { s.Prefetch = 2 }},
		"groups":        {shard: 4, args: func(q *QueueSpec) { q.Policy.GroupHeader = "g" }},
		"single active": {shard: 4, args: func(q *QueueSpec) { q.Policy.SingleActive = true }, lone: true},
		"selectors":     {shard: 4, spec: func(s *shard.ConsumerSpec) { s.Selector = all }},
	} {
		t.Run(name, func(t *testing.T) {
			b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = how.shard })
			defer mustClose(t, b)
			c := newClient(t, b)
			defer c.Close()
			shared := shard.NewLimit(limit)
			for q := range queues {
				c.queue(fmt.Sprint(q), how.args)
				for k := range 2 {
					c.consume(fmt.Sprint(q), func(s *shard.ConsumerSpec) {
						if s.Tag, s.Limit = fmt.Sprint(q, "-", k), shared; how.spec != nil {
							how.spec(s)
						}
					})
				}
			}
			c.queue("hold", nil)
			c.consume("hold", func(s *shard.ConsumerSpec) { s.Tag, s.Limit = "hold", shared })
			c.post("", "hold", "first", nil) // takes the only slot, so that all wait
			c.Flush()
			out := c.take(1)
			for range each {
				for q := range queues {
					c.post("", fmt.Sprint(q), "x", nil)
				}
			}
			c.Flush()
			settled(t, b)
			perQueue, perConsumer := map[string]int{}, map[string]int{}
			for n := range queues * each {
				c.Ack(out[0].Queue, out[0].Consumer, out[0].Handle, 1)
				c.Flush()
				out = c.take(1)
				perQueue[out[0].Queue.Name]++
				perConsumer[out[0].Consumer.Tag]++
				for q := range queues {
					if got := perQueue[fmt.Sprint(q)]; got < n/queues {
						t.Fatalf("of the first %d messages queue %d had %d: %v", n+1, q, got, perQueue)
					}
				}
			}
			for q := range queues {
				one, two := perConsumer[fmt.Sprint(q, "-", 0)], perConsumer[fmt.Sprint(q, "-", 1)]
				if one+two != each || !how.lone && one != two {
					t.Errorf("the consumers of queue %d had %d and %d", q, one, two)
				}
			}
		})
	}
}

// fairness checks which consumers are served while others wait under one limit.
type fairness struct {
	t    *testing.T
	seen map[[2]any]int // how often the second was served while the first waited: sharing or *Consumer
}

// sharing is a queue's consumers under one limit.
type sharing struct {
	limit *shard.Limit
	queue *shard.Queue
}

func sharingOf(c *shard.Consumer) sharing { return sharing{c.State().Limit, c.Queue} }

// served records deliveries that resulted from one slot, with what waited before and still waits.
func (f *fairness) served(step int, ds []shard.Delivery, before, after map[any]bool) {
	for k := range f.seen {
		if !before[k[0]] || !after[k[0]] {
			delete(f.seen, k)
		}
	}
	for _, d := range ds {
		c := d.Consumer
		for k := range f.seen {
			if k[0] == c || k[0] == sharingOf(c) { // its turn came
				delete(f.seen, k)
			}
		}
		for w := range before {
			if !after[w] {
				continue
			}
			var rival any
			switch w := w.(type) {
			case sharing:
				if w != sharingOf(c) && w.limit == c.State().Limit {
					rival = sharingOf(c)
				}
			case *shard.Consumer:
				if w != c && sharingOf(w) == sharingOf(c) && w.Priority == c.Priority {
					rival = c
				}
			}
			if rival == nil {
				continue
			}
			if f.seen[[2]any{w, rival}]++; f.seen[[2]any{w, rival}] > 1 {
				f.t.Fatalf("step %d: %s was served twice while another waited", step, c.Tag)
			}
		}
	}
}

// TestLimitsAgainstRules adds and removes consumers of several queues, shards, sessions and limits
// at random, and changes limits. No consumer waits while another of the same kind is served twice,
// none holds more than its limit, and no message is ready while a consumer has room.
func TestLimitsAgainstRules(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runLimits(t, rand.New(rand.NewPCG(seed, 14)), 600) })
	}
}

type limitWorld struct {
	t       *testing.T
	b       *Broker
	clients []*client
	limits  map[*client]*shard.Limit
	queues  []*shard.Queue
	all     []*shard.Consumer
	owner   map[*shard.Consumer]*client
	held    []shard.Delivery
	served  []shard.Delivery
}

func (w *limitWorld) rest() {
	settled(w.t, w.b)
	w.served = w.served[:0]
	for _, c := range w.clients {
		w.served = append(w.served, c.received()...)
	}
	w.held = append(w.held, w.served...)
}

// waiting returns the consumers that could take a message if the limit let them, and their shares.
func (w *limitWorld) waiting() map[any]bool {
	ready := map[*shard.Queue]int{}
	for _, q := range w.queues {
		must(w.t, q.Home().Call(func() { ready[q] = shard.ContextOf(q).Deliveries().Ready() }))
	}
	m := map[any]bool{}
	for _, k := range w.all {
		l, used, mine := k.State().Limit, 0, 0
		for _, d := range w.held {
			if d.Consumer.State().Limit == l {
				used++
			}
			if d.Consumer == k {
				mine++
			}
		}
		if used > l.Max() {
			w.t.Fatalf("%d are out of %d", used, l.Max())
		}
		if prefetch := k.State().Prefetch; ready[k.Queue] == 0 || prefetch > 0 && mine >= prefetch {
			continue
		}
		if used < l.Max() {
			w.t.Fatalf("consumer %s has room, and %d are ready", k.Tag, ready[k.Queue])
		}
		m[k], m[sharingOf(k)] = true, true
	}
	return m
}

// settle ends one outstanding delivery, in one of three ways.
func (w *limitWorld) settle(rng *rand.Rand) {
	i := rng.IntN(len(w.held))
	d := w.held[i]
	w.held = append(w.held[:i], w.held[i+1:]...)
	c := w.owner[d.Consumer]
	switch rng.IntN(6) {
	case 0:
		c.Requeue(d.Queue, d.Consumer, d.Handle, 1)
	case 1:
		c.Reject(d.Queue, d.Consumer, d.Handle, 1)
	default:
		c.Ack(d.Queue, d.Consumer, d.Handle, 1)
	}
	c.Flush()
}

func runLimits(t *testing.T, rng *rand.Rand, steps int) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 3 })
	defer mustClose(t, b)
	w := &limitWorld{t: t, b: b, limits: map[*client]*shard.Limit{}, owner: map[*shard.Consumer]*client{}}
	for range 2 {
		c := newClient(t, b)
		defer c.Close()
		w.clients, w.limits[c] = append(w.clients, c), shard.NewLimit(1+rng.IntN(3))
	}
	v, _ := b.vhost("/")
	for i := range 4 {
		w.clients[0].queue(fmt.Sprint(i), nil)
		q, _ := v.Queue(fmt.Sprint(i))
		w.queues = append(w.queues, q)
	}
	f := &fairness{t: t, seen: map[[2]any]int{}}
	for step := range steps {
		before := w.waiting()
		c := w.clients[rng.IntN(len(w.clients))]
		single := false
		switch op := rng.IntN(12); {
		case op == 0 && len(w.all) < 16:
			k := c.consume(fmt.Sprint(rng.IntN(4)), func(s *shard.ConsumerSpec) {
				s.Tag, s.Prefetch, s.Limit = fmt.Sprint(step), rng.IntN(3), w.limits[c]
			})
			w.all, w.owner[k] = append(w.all, k), c
		case op == 1 && len(w.all) > 0 && rng.IntN(3) == 0:
			i := rng.IntN(len(w.all))
			k := w.all[i]
			w.all = append(w.all[:i], w.all[i+1:]...)
			w.owner[k].Cancel(k)
		case op == 2 && w.limits[c].Max() < 5: // a lower one would be below the number of outstanding deliveries
			c.SetLimit(w.limits[c], w.limits[c].Max()+1)
		case op < 6:
			for range 1 + rng.IntN(4) {
				c.post("", fmt.Sprint(rng.IntN(4)), "x", nil)
			}
			c.Flush()
		case len(w.held) > 0:
			w.settle(rng)
			single = true
		}
		w.rest()
		if single {
			f.served(step, w.served, before, w.waiting())
		} else {
			clear(f.seen)
		}
	}
}
