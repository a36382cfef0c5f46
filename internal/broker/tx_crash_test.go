package broker

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// transfers move messages from queue a to the queues b and c, each in a transaction, from several
// sessions at once, so that many transactions share an entry of the log.
type transfers struct {
	t    *testing.T
	mu   sync.Mutex
	done map[string]bool // bodies whose commit was answered
}

const (
	transferred = 60
	movers      = 6
)

func (r *transfers) live(b *Broker) {
	c := newClient(r.t, b)
	for _, q := range []string{"a", "b", "c"} {
		if declare(c, QueueSpec{Name: q, Durable: true}) != nil {
			return
		}
	}
	tx := c.NewTx()
	for i := range transferred {
		tx.Publish(c.message("a", fmt.Sprintf("m%02d", i)))
	}
	if tx.Commit() != nil {
		return
	}
	r.mu.Lock()
	r.done["all are in a"] = true
	r.mu.Unlock()
	var wg sync.WaitGroup
	for worker := range movers {
		wg.Go(func() { r.move(newClient(r.t, b), rand.New(rand.NewPCG(uint64(worker), 3))) })
	}
	wg.Wait()
}

// message returns a publish that is routed but not sent.
func (c *client) message(q, body string) *shard.Publish {
	var p shard.Publish
	c.post("", q, body, func(have *shard.Publish) { p = *have; have.Targets = shard.Targets{} })
	return &p
}

func (r *transfers) move(c *client, rng *rand.Rand) {
	for {
		var ds []shard.Delivery
		for range 1 + rng.IntN(3) {
			d, _, ok, err := c.Get("a", false)
			if err != nil {
				return
			}
			if ok {
				ds = append(ds, d)
			}
		}
		if len(ds) == 0 {
			return
		}
		tx := c.NewTx()
		var moved []string
		for _, d := range ds {
			if rng.IntN(5) == 0 {
				tx.Release(d.Queue, d.Handle, 1)
				continue
			}
			tx.Ack(d.Queue, nil, d.Handle, 1)
			body := string(d.Env.Body())
			tx.Publish(c.message("b", body))
			tx.Publish(c.message("c", body))
			moved = append(moved, body)
		}
		if tx.Commit() != nil {
			return
		}
		r.mu.Lock()
		for _, body := range moved {
			r.done[body] = true
		}
		r.mu.Unlock()
	}
}

// check: each message is in a, or in both b and c, and in those if that was answered.
func (r *transfers) check(b *Broker) {
	c := newClient(r.t, b)
	defer c.Close()
	there := map[string][]string{}
	for _, q := range []string{"a", "b", "c"} {
		if _, ok := c.vhost.Queue(q); ok {
			there[q] = c.drain(q)
		}
	}
	if len(there["a"])+len(there["b"]) == 0 && !r.done["all are in a"] {
		return
	}
	for i := range transferred {
		body := fmt.Sprintf("m%02d", i)
		n := map[string]int{}
		for q, list := range there {
			for _, have := range list {
				if have == body {
					n[q]++
				}
			}
		}
		if n["a"]+n["b"] != 1 || n["b"] != n["c"] || r.done[body] && n["b"] != 1 {
			r.t.Errorf("%s is there %v times; answered: %v", body, n, r.done[body])
		}
	}
}

// TestTransactionsThatShareEntries crashes at each disk operation in turn. Afterwards no
// transaction is half applied, none that was answered is missing, and nothing is duplicated.
func TestTransactionsThatShareEntries(t *testing.T) {
	for _, shards := range []int{1, 3} {
		t.Run(fmt.Sprint(shards, " shards"), func(t *testing.T) {
			options := func(o *Options) { o.Shards, o.SegmentBytes, o.CheckpointBytes = shards, 4<<10, 1<<10 }
			for k := 1; ; k++ {
				mem := vfs.NewMem()
				fs := vfs.NewErrors(mem)
				fs.CrashAt(k)
				r := &transfers{t: t, done: map[string]bool{}}
				if b, err := tryOpen(fs, options); err == nil {
					r.live(b)
					b.Close()
				}
				for seed := range uint64(2) {
					clone := mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed)))
					again, err := tryOpen(clone, options)
					if err != nil {
						t.Fatalf("crash at operation %d: cannot open: %v", k, err)
					}
					r.check(again)
					mustClose(t, again)
					if t.Failed() {
						t.Fatalf("crash at operation %d, disk %d", k, seed)
					}
				}
				if !fs.Crashed() {
					return
				}
			}
		})
	}
}

// Transactions that arrive while the shard is busy share an entry.
func TestTransactionsShareAnEntry(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 1 })
	c := newClient(t, b)
	c.queue("q", nil)
	sh, begun, busy := b.set.All[0], make(chan struct{}), make(chan struct{})
	before := b.Stats().Log.Groups
	sh.Post(func() { close(begun); <-busy })
	<-begun
	var all sync.WaitGroup
	for i := range 4 {
		c := newClient(t, b)
		tx := c.NewTx()
		tx.Publish(c.message("q", fmt.Sprint(i)))
		all.Go(func() {
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
		})
	}
	for waiting := 0; waiting < 4; runtime.Gosched() {
		waiting = shard.DebugOf(sh).Pending()
	}
	close(busy)
	all.Wait()
	if n := b.Stats().Log.Groups - before; n >= 4 { // the shard's own facts may be one, too
		t.Errorf("four transactions are %d groups of the log", n)
	}
	mustClose(t, b)
}

// Transactions of one part do not see each other half applied: reading two queues at once always
// finds the same sum.
func TestTransactionsAreWhole(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 1 })
	c := newClient(t, b)
	for _, q := range []string{"a", "b", "c"} {
		c.queue(q, nil)
	}
	tx := c.NewTx()
	for i := range transferred {
		tx.Publish(c.message("a", fmt.Sprintf("m%02d", i)))
	}
	must(t, tx.Commit())
	r := &transfers{t: t, done: map[string]bool{}}
	var wg sync.WaitGroup
	for worker := range movers {
		wg.Go(func() { r.move(newClient(t, b), rand.New(rand.NewPCG(uint64(worker), 3))) })
	}
	sh := b.set.All[0]
	for whole := false; !whole; {
		n := map[string]int{}
		must(t, sh.Each(func(at shard.Context) { n[at.Queue().Name] = at.Deliveries().Ready() + at.Deliveries().Unacked() }))
		{
			if n["a"]+n["b"] != transferred || n["b"] != n["c"] {
				t.Errorf("a transaction is half done: %v", n)
			}
			whole = n["a"] == 0 || t.Failed()
		}
	}
	wg.Wait()
	left := c.drain("b")
	slices.Sort(left)
	if len(left) != transferred || len(slices.Compact(left)) != transferred {
		t.Errorf("%d messages are in b", len(left))
	}
	mustClose(t, b)
}
