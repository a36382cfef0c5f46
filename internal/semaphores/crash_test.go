package semaphores

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// startOn starts a broker with semaphores on a file system that may fail.
func startOn(t *testing.T, fs vfs.FS) (*node, error) {
	n := &node{T: t, m: New(Options{Logger: slog.New(slog.DiscardHandler)})}
	var err error
	n.b, err = broker.Open(fs, "data", broker.Options{
		StateMachines: map[uint32]statemachine.Machine{statemachine.Semaphores: n.m}, Shards: 2, DiskFreeLimit: -1, SegmentBytes: 8 << 10,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	n.must(n.m.Start(n.b))
	n.s = n.session()
	return n, nil
}

// end stops the node, which fails on a failed file system.
func (n *node) end() error {
	n.m.Stop()
	n.s.Close()
	return n.b.Close()
}

// crashSteps is a script over two semaphores, mostly random but the same in each run.
func crashSteps() (steps []func(*node) error) {
	rng := rand.New(rand.NewPCG(7, 7))
	do := func(g func(*node) Group, c Change) {
		steps = append(steps, func(n *node) error {
			c.of().Err = nil
			return errors.Join(n.m.DoWith(n.s, g(n), c), c.of().Err)
		})
	}
	alone := func(*node) Group { return Group{} }
	withTx := func(n *node) Group {
		tx := n.s.NewTx()
		tx.Publish(n.message("posts", "tx"))
		return Group{Tx: tx}
	}
	withPost := func(*node) Group {
		return Group{Commands: []broker.Command{&broker.Post{
			OnQueue: broker.OnQueue{Queue: "posts"}, Env: bare("posts", "post"), Persistent: true, TTL: -1, Must: true,
		}}}
	}
	groups := []func(*node) Group{alone, alone, withTx, withPost}
	keys := []string{"k", "l"}
	for _, key := range keys {
		do(alone, &Create{Of: Of{Key: key}, Settings: Settings{Active: new(2), TryRelease: new(1)}})
	}
	for i := range 36 {
		key, g := Of{Key: keys[rng.IntN(2)]}, groups[rng.IntN(len(groups))]
		task := func() string { return strings.Repeat(fmt.Sprint("t", rng.IntN(5)), 20) } // long: a torn page may split it
		switch n := rng.IntN(10); {
		case i == 20:
			do(alone, &Delete{Of: key})
			do(alone, &Create{Of: key})
		case n < 5:
			do(g, &Enqueue{Of: key, Entries: []Entry{{Task: task(), Priority: rng.Float64()}, {Task: task(), Priority: rng.Float64()}}})
		case n < 8:
			do(g, &Release{Of: key, Tasks: []string{task(), task()}})
		case n < 9:
			do(g, &Update{Of: key, Settings: Settings{Active: new(rng.IntN(4)), TryRelease: new(rng.IntN(4))}})
		default:
			steps = append(steps, nil) // restart the broker
		}
	}
	return steps
}

func bare(key, body string) message.Envelope {
	props := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: message.Persistent}
	return append(message.AppendEnvelopeHeader(nil, "", key, props.Append(nil)), body...)
}

// message publishes to a queue.
func (n *node) message(q, body string) *shard.Publish {
	n.Helper()
	to, err := n.s.Route(nil, []byte(q), &message.Peek{}, nil)
	n.must(err)
	return &shard.Publish{Targets: to, Env: bare(q, body), Persistent: true, TTL: -1}
}

// makeQueues declares a queue for the events and one for posts.
func (n *node) makeQueues() error {
	err := n.s.DeclareExchange(catalog.ExchangeSpec{Name: Exchange, Type: "topic", Durable: true})
	for _, q := range []string{"events", "posts"} {
		if err == nil {
			_, err = n.s.DeclareQueue(catalog.QueueSpec{Name: q, Durable: true, Policy: catalog.DefaultQueuePolicy()})
		}
	}
	if err == nil {
		err = n.s.Bind(catalog.BindSpec{Source: Exchange, Destination: "events", Key: "#"})
	}
	return err
}

// state returns everything observable: the semaphores, the messages of their events, and the
// messages committed with them.
func (n *node) state() string {
	n.Helper()
	var b strings.Builder
	for _, key := range []string{"k", "l"} {
		look, page := &Look{Of: Of{Key: key}}, &Page{Of: Of{Key: key}, Limit: 100}
		n.must(n.m.Do(n.s, look, page))
		fmt.Fprintln(&b, key, look.Err, look.Info.ID, look.Info.Config)
		for _, t := range page.States {
			fmt.Fprintln(&b, " ", t.ID, t.Priority, t.Seq, t.Status, t.Position)
		}
	}
	for _, q := range []string{"events", "posts"} {
		fmt.Fprintln(&b, q)
		for _, m := range n.ready(q) {
			fmt.Fprintln(&b, " ", m)
		}
	}
	return b.String()
}

// ready lists the messages of a queue and leaves them there.
func (n *node) ready(q string) (all []string) {
	n.Helper()
	if !n.s.HasQueue(q) {
		return nil
	}
	var held []shard.Delivery
	for {
		d, _, ok, err := n.s.Get(q, false)
		n.must(err)
		if !ok {
			break
		}
		held = append(held, d)
		all = append(all, string(d.Env.Key())+" "+string(d.Env.Body()))
	}
	for _, d := range held {
		n.s.Return(d.Queue, nil, d.Handle, 1)
	}
	n.s.Flush()
	return all
}

// liveOn runs the steps until one fails, which is the crash, and returns how many were answered. It
// calls after after each step.
func liveOn(t *testing.T, fs vfs.FS, steps []func(*node) error, after func(*node)) (answered int) {
	n, err := startOn(t, fs)
	if err != nil {
		return 0
	}
	err = n.makeQueues()
	for _, step := range steps {
		switch {
		case err != nil:
		case step != nil:
			err = step(n)
		default:
			if err = n.end(); err == nil {
				n, err = startOn(t, fs)
			}
			if n == nil {
				return answered
			}
		}
		if err == nil {
			after(n)
			answered++
		}
	}
	n.end() // fails after the crash, but the goroutines must end
	return answered
}

// TestCrashAtEveryOperation makes each disk operation in turn the last one. After the restart the
// state contains what was answered, and possibly what was in flight. Each transition has the same
// single message as without a crash, in the same order.
func TestCrashAtEveryOperation(t *testing.T) {
	var states []string
	liveOn(t, vfs.NewMem(), crashSteps(), func(n *node) { states = append(states, n.state()) })
	if n := len(crashSteps()); len(states) != n || !strings.Contains(states[n-1], "Retained") || !strings.Contains(states[n-1], "Deleted") {
		t.Fatalf("the script shows little: %d steps of %d\n%s", len(states), n, states[len(states)-1])
	}
	for k := 1; !t.Failed(); k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		answered := liveOn(t, fs, crashSteps(), func(*node) {})
		for seed := range uint64(3) {
			n, err := startOn(t, mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))))
			if err != nil {
				t.Fatalf("crash at operation %d, disk %d: %v", k, seed, err)
			}
			if got := n.state(); answered > 0 && !slices.Contains(states[answered-1:min(answered+1, len(states))], got) {
				t.Errorf("crash at operation %d, disk %d, after %d answers:\n%swithout a crash:\n%s", k, seed, answered, got, states[answered-1])
			}
			n.must(n.end())
		}
		if !fs.Crashed() {
			t.Logf("survived with %d operations", k-1)
			return
		}
	}
}
