package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestPublishConsumeAck(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", nil)
	for i := range 10 {
		c.post("", "q", fmt.Sprint(i), nil)
	}
	c.Flush()
	c.consume("q", func(s *shard.ConsumerSpec) { s.Prefetch = 3 })
	first := c.take(3)
	sameStrings(t, bodies(first), "0", "1", "2")
	c.Ack(first[0].Queue, first[0].Consumer, first[0].Handle, 2)
	c.Flush()
	sameStrings(t, bodies(c.take(2)), "3", "4")
	c.until(func() bool { return len(c.acks) == 10 })
	c.Close()
}

func TestRequeueKeepsPlace(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", nil)
	for i := range 4 {
		c.put("", "q", fmt.Sprint(i), nil)
	}
	d, left, ok, err := c.Get("q", false)
	if err != nil || !ok || left != 3 || d.Redelivered {
		t.Fatal(d, left, ok, err)
	}
	c.Requeue(d.Queue, nil, d.Handle, 1)
	d, _, _, _ = c.Get("q", false)
	if string(d.Env.Body()) != "0" || !d.Redelivered || d.Count != 1 {
		t.Fatalf("%q redelivered=%v count=%d", d.Env.Body(), d.Redelivered, d.Count)
	}
}

// A restart keeps the messages that were confirmed and not settled, in order, and recovery restores
// the previous state.
func TestRestart(t *testing.T) {
	for _, how := range []string{"clean", "crash"} {
		t.Run(how, func(t *testing.T) {
			fs := vfs.NewMem()
			b := openBroker(t, fs, nil)
			c := newClient(t, b)
			c.queue("q", nil)
			c.queue("other", nil)
			must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout", Durable: true}))
			must(t, c.Bind(BindSpec{Source: "x", Destination: "q"}))
			must(t, c.Bind(BindSpec{Source: "x", Destination: "other"}))
			for i := range 6 {
				c.put("x", "", fmt.Sprint(i), nil)
			}
			c.postProps("", "q", "transient", message.Properties{}, nil)
			d, _, _, _ := c.Get("q", false)
			c.Ack(d.Queue, nil, d.Handle, 1)
			_, _, _, _ = c.Get("q", false) // stays unacked
			if _, err := c.PurgeQueue("other"); err != nil {
				t.Fatal(err)
			}
			c.put("x", "", "last", nil)
			want, err := b.Hash()
			must(t, err)
			var next vfs.FS = fs
			if how == "clean" {
				c.Close()
				mustClose(t, b)
			} else {
				next = fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
			}
			b2 := openBroker(t, next, nil)
			defer mustClose(t, b2)
			if got, err := b2.Hash(); err != nil || got != want {
				t.Errorf("state hash %x after %s, want %x", got, how, want)
			}
			c2 := newClient(t, b2)
			first, _, ok, err := c2.Get("q", true)
			if err != nil || !ok || string(first.Env.Body()) != "1" || !first.Redelivered {
				t.Fatalf("first %q redelivered=%v %v %v", first.Env.Body(), first.Redelivered, ok, err)
			}
			sameStrings(t, c2.drain("q"), "2", "3", "4", "5", "last")
			sameStrings(t, c2.drain("other"), "last")
			c2.put("x", "", "again", nil)
			sameStrings(t, c2.drain("q"), "again")
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTransactionOverShards(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, func(o *Options) { o.Shards = 3 })
	c := newClient(t, b)
	for i := range 5 {
		c.queue(fmt.Sprint("q", i), nil)
	}
	c.put("", "q0", "in", nil)
	d, _, _, _ := c.Get("q0", false)
	tx := c.NewTx()
	for i := 1; i < 5; i++ {
		var p shard.Publish
		c.post("", fmt.Sprint("q", i), "m", func(have *shard.Publish) { p = *have; have.Targets = shard.Targets{} })
		tx.Publish(&p)
	}
	tx.Ack(d.Queue, nil, d.Handle, 1)
	sameStrings(t, c.drain("q1"))
	must(t, tx.Commit())
	b2 := openBroker(t, fs.CrashClone(rand.New(rand.NewPCG(1, 2))), func(o *Options) { o.Shards = 3 })
	defer mustClose(t, b2)
	c2 := newClient(t, b2)
	sameStrings(t, c2.drain("q0"))
	for i := 1; i < 5; i++ {
		sameStrings(t, c2.drain(fmt.Sprint("q", i)), "m")
	}
	c.Close()
	mustClose(t, b)
}

func TestDeclareErrors(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c, other := newClient(t, b), newClient(t, b)
	c.queue("q", nil)
	c.queue("mine", func(s *QueueSpec) { s.Exclusive = true })
	cases := []struct {
		name string
		err  error
		want error
	}{
		{"passive missing", declare(c, QueueSpec{Name: "no", Passive: true}), ErrQueueNotFound},
		{"durable differs", declare(c, QueueSpec{Name: "q"}), ErrInequivalent},
		{"argument differs", declare(c, QueueSpec{Name: "q", Durable: true, Compared: []string{"x-expires"},
			Args: message.Table{{Name: "x-expires", Value: int32(5)}}}), ErrInequivalent},
		{"exclusive elsewhere", declare(other, QueueSpec{Name: "mine", Passive: true}), ErrExclusive},
		{"exchange missing", c.Bind(BindSpec{Source: "none", Destination: "q"}), ErrExchangeNotFound},
		{"queue missing", c.Bind(BindSpec{Source: "amq.direct", Destination: "none"}), ErrQueueNotFound},
		{"default exchange", c.Bind(BindSpec{Source: "", Destination: "q"}), ErrDefaultExchange},
		{"reserved", c.DeclareExchange(ExchangeSpec{Name: "amq.mine", Type: "direct"}), ErrReservedName},
		{"type", c.DeclareExchange(ExchangeSpec{Name: "x", Type: "odd"}), ErrUnknownExchangeType},
		{"unbind what is not there", c.Unbind(BindSpec{Source: "none", Destination: "q"}), nil},
		{"delete what is not there", c.DeleteExchange("none", false), nil},
		{"system exchange", c.DeleteExchange("amq.direct", false), ErrSystemExchange},
	}
	for _, k := range cases {
		if !errors.Is(k.err, k.want) {
			t.Errorf("%s: %v, want %v", k.name, k.err, k.want)
		}
	}
	c.Close()
	if _, err := other.DeclareQueue(QueueSpec{Name: "mine", Passive: true}); !errors.Is(err, ErrQueueNotFound) {
		t.Errorf("the exclusive queue outlived its session: %v", err)
	}
}

func declare(c *client, s QueueSpec) error {
	s.Policy = DefaultQueuePolicy()
	_, err := c.DeclareQueue(s)
	return err
}

func TestDeadLetterAndLimits(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 3 })
	defer mustClose(t, b)
	c := newClient(t, b)
	must(t, c.DeclareExchange(ExchangeSpec{Name: "dlx", Type: "fanout", Durable: true}))
	c.queue("dead", nil)
	must(t, c.Bind(BindSpec{Source: "dlx", Destination: "dead"}))
	c.queue("q", func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.DeadLetterExchange, s.Policy.MaxLength = true, "dlx", 2
	})
	c.queue("full", func(s *QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 1, RejectPublish })
	for i := range 3 {
		c.put("", "q", fmt.Sprint(i), nil)
	}
	sameStrings(t, c.drainWait("dead", 1), "0")
	d, _, _, _ := c.Get("q", false)
	c.Reject(d.Queue, nil, d.Handle, 1)
	c.Flush()
	sameStrings(t, c.drainWait("dead", 1), "1")
	c.put("", "full", "a", nil)
	c.put("", "full", "b", nil)
	if len(c.nacks) != 1 {
		t.Errorf("nacks: %v", c.nacks)
	}
	sameStrings(t, c.drain("full"), "a")
}

// drainWait consumes n messages, for which it waits.
func (c *client) drainWait(q string, n int) []string {
	k := c.consume(q, func(s *shard.ConsumerSpec) { s.NoAck = true })
	defer c.Cancel(k)
	return bodies(c.take(n))
}
