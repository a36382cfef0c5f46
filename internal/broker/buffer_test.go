package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/invariants"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// header returns the properties of a persistent message with one header.
func header(name string, value any) message.Properties {
	return message.Properties{
		Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: name, Value: value}},
	}
}

// send publishes with properties, waits for all confirms, and returns the number of rejections.
func (c *client) send(exchange, key, body string, props message.Properties) (refused int) {
	c.t.Helper()
	parts := 0
	seq := c.postProps(exchange, key, body, props, func(p *shard.Publish) { parts = max(p.Targets.Parts(), 1) })
	c.Flush()
	c.until(func() bool { return c.acks[seq]+c.nacks[seq] == parts })
	return c.nacks[seq]
}

// delayed declares a delayed exchange.
func (c *client) delayed(name, inner string, change func(*ExchangeSpec)) {
	c.t.Helper()
	spec := ExchangeSpec{
		Name: name, Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: inner}},
	}
	if change != nil {
		change(&spec)
	}
	must(c.t, c.DeclareExchange(spec))
}

func (c *client) bind(source, destination, key string) {
	c.t.Helper()
	must(c.t, c.Bind(BindSpec{Source: source, Destination: destination, Key: key}))
}

func delayOf64(ms int64) message.Properties { return header("x-delay", ms) }

func threeShards(o *Options) { o.Shards = 3 }

// bufferOn returns the buffer of an exchange.
func (c *client) bufferOn(exchange string) *shard.Queue {
	c.t.Helper()
	x, ok := c.vhost.Table().Exchange(exchange)
	if !ok {
		c.t.Fatalf("no exchange %s", exchange)
	}
	q := c.b.set.BufferQueue(x)
	if q == nil {
		c.t.Fatalf("exchange %s has no buffer", exchange)
	}
	return q
}

// look reads the state of a queue on the goroutine of its shard.
func look(t *testing.T, q *shard.Queue, fn func(*queue.Deliveries)) {
	t.Helper()
	must(t, q.Home().Call(func() { fn(shard.ContextOf(q).Deliveries()) }))
}

func TestDelayedIsExactOnEveryShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), threeShards)
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		c.delayed("later", "direct", nil)
		for i := range 4 { // on all shards, and one on the buffer's
			q := fmt.Sprint("q", i)
			c.queue(q, nil)
			c.bind("later", q, "k")
		}
		c.send("later", "k", "third", delayOf64(3000))
		c.send("later", "k", "first", delayOf64(1000))
		c.send("later", "k", "second", delayOf64(2000))
		c.send("later", "k", "now", delayOf64(0))
		c.send("later", "k", "also now", header("other", "x"))
		for i := range 4 {
			sameStrings(t, c.drain(fmt.Sprint("q", i)), "now", "also now")
		}
		start := time.Now()
		for i := range 4 {
			c.consume(fmt.Sprint("q", i), func(s *shard.ConsumerSpec) { s.NoAck = true })
		}
		for n, want := range []string{"first", "second", "third"} {
			for _, d := range c.take(4) {
				if string(d.Env.Body()) != want {
					t.Errorf("got %q, want %q", d.Env.Body(), want)
				}
			}
			after := time.Since(start) - time.Duration(n+1)*time.Second
			if after < 0 || after > 10*time.Millisecond {
				t.Errorf("%s came %v late", want, after)
			}
		}
		synctest.Wait()
		look(t, c.bufferOn("later"), func(s *queue.Deliveries) {
			if s.Ready()+s.Unacked()+s.Scheduled() != 0 {
				t.Error("the buffer is not empty")
			}
		})
	})
}

func TestDelayedKeepsWhatTheSenderAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		c.delayed("later", "topic", nil)
		c.queue("q", func(s *QueueSpec) { s.Policy.MaxPriority = 5 })
		p := delayOf64(1000)
		p.Flags |= message.HasExpiration | message.HasPriority
		p.Expiration, p.Priority = "500", 3
		c.send("later", "a.b", "low", delayOf64(1000))
		c.send("later", "a.b", "high", p)
		c.bind("later", "q", "a.*") // the bindings at the due time
		time.Sleep(1400 * time.Millisecond)
		synctest.Wait()
		d, _, ok, err := c.Get("q", true)
		must(t, err)
		if !ok || string(d.Env.Body()) != "high" || string(d.Env.Exchange()) != "later" || string(d.Env.Key()) != "a.b" {
			t.Fatalf("got %v %q", ok, d.Env)
		}
		props, err := message.DecodeProperties(d.Env.Properties())
		must(t, err)
		if v, _ := props.Headers.Get("x-delay"); v != int32(-1000) || props.Expiration != "500" {
			t.Errorf("the message has %v", props)
		}
		sameStrings(t, c.drain("q"), "low")

		c.send("later", "a.b", "short-lived", p)
		time.Sleep(1499 * time.Millisecond)
		synctest.Wait()
		q, _ := c.vhost.Queue("q")
		look(t, q, func(s *queue.Deliveries) {
			if s.Ready() != 1 {
				t.Error("it expired before 500 ms in its queue")
			}
		})
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		sameStrings(t, c.drain("q"))
	})
}

func TestDelayedSurvivesRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		b := openBroker(t, fs, threeShards)
		c := newClient(t, b)
		c.delayed("later", "fanout", nil)
		c.queue("q", nil)
		c.bind("later", "q", "")
		for i := range 500 {
			c.postProps("later", "", fmt.Sprint("m", i), delayOf64(int64(1000+i*10)), nil)
		}
		c.Flush()
		transient := delayOf64(1000)
		transient.DeliveryMode = 1
		c.send("later", "", "transient", transient)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		early := len(c.drain("q"))
		if early < 190 || early > 205 {
			t.Errorf("%d messages came in the first 3 s", early)
		}
		syncAll(t, b)
		before, err := b.Hash()
		must(t, err)
		clone := fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
		c.Close()
		mustClose(t, b)
		for i, disk := range []vfs.FS{clone, fs} {
			b := openBroker(t, disk, threeShards)
			if after, _ := b.Hash(); i == 0 && after != before { // in later rounds more are due at the start
				t.Errorf("the hash is %x, was %x", after, before)
			}
			c := newClient(t, b)
			time.Sleep(4 * time.Second)
			synctest.Wait()
			if late := len(c.drain("q")); early+late != 501 {
				t.Errorf("%d messages came after the restart, %d before", late, early)
			}
			c.Close()
			mustClose(t, b)
		}
	})
}

// A message that a consumer got just before a crash, unknown to the log, is delivered again as
// redelivered.
func TestDelayedSeenBeforeACrashIsRedelivered(t *testing.T) {
	for _, shards := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			mem := vfs.NewMem()
			open := func(fs vfs.FS) (*Broker, *client) {
				b := openBroker(t, fs, func(o *Options) { o.Shards = shards })
				return b, newClient(t, b)
			}
			b, c := open(mem)
			c.delayed("later", "fanout", nil)
			c.queue("q", nil)
			c.bind("later", "q", "")
			c.send("later", "", "seen", delayOf64(1000))
			before := mem.CrashClone(rand.New(rand.NewPCG(1, 1))) // as if nothing after this were written
			c.consume("q", nil)
			if d := c.take(1)[0]; d.Redelivered {
				t.Error("the first delivery is marked")
			}
			after, again := open(before)
			again.consume("q", nil)
			if d := again.take(1)[0]; !d.Redelivered || string(d.Env.Body()) != "seen" {
				t.Errorf("%d shards: %q came again, redelivered %t", shards, d.Env.Body(), d.Redelivered)
			}
			for _, x := range []*client{c, again} {
				x.Close()
			}
			mustClose(t, b)
			mustClose(t, after)
		})
	}
}

func TestBufferGoesWithItsExchange(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, threeShards)
	c := newClient(t, b)
	for range 3 {
		c.delayed("later", "fanout", nil)
		c.delayed("later", "fanout", nil) // declaring it again changes nothing
		c.send("later", "", "never", delayOf64(3_600_000))
		look(t, c.bufferOn("later"), func(s *queue.Deliveries) {
			if n := s.Scheduled(); n != 1 {
				t.Errorf("%d messages wait", n)
			}
		})
		must(t, c.DeleteExchange("later", false))
		if n := b.Stats().Queues; n != 0 {
			t.Fatalf("%d queues are left", n)
		}
	}
	c.delayed("swept", "fanout", func(s *ExchangeSpec) { s.AutoDelete = true })
	c.queue("q", nil)
	c.bind("swept", "q", "")
	must(t, c.Unbind(BindSpec{Source: "swept", Destination: "q"}))
	c.delayed("stays", "fanout", nil)
	c.send("stays", "", "waits", delayOf64(3_600_000))
	must(t, b.journal.Checkpoint(b.set.Store))
	c.Close()
	mustClose(t, b)

	sameStrings(t, replayedQueues(t, fs), "amq.relay.stays 1", "q 0")
	b = openBroker(t, fs, threeShards)
	c = newClient(t, b)
	if n := b.Stats().Queues; n != 2 {
		t.Errorf("%d queues after the restart", n)
	}
	c.Close()
	must(t, b.DeleteVHost("/"))
	mustClose(t, b)
	sameStrings(t, replayedQueues(t, fs))
}

// replayedQueues lists the queues that recovery restores from a data directory, each with the
// number of its scheduled messages.
func replayedQueues(t *testing.T, fs vfs.FS) (queues []string) {
	t.Helper()
	must(t, Replay(fs, "data", Options{Logger: slog.New(slog.DiscardHandler)}, func(r Replayed) error {
		for v := range r.Broker.AllVHosts() {
			for def := range v.All(v.Table()) {
				q := shard.QueueOf(def)
				queues = append(queues, fmt.Sprint(q.Name, " ", shard.ContextOf(q).Deliveries().Scheduled()))
			}
		}
		return nil
	}))
	slices.Sort(queues)
	return queues
}

func TestBufferIsOutOfReach(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.delayed("later", "fanout", nil)
	const name = "amq.relay.later"
	_, err := c.Consume(shard.ConsumerSpec{Queue: name})
	_, _, _, getErr := c.Get(name, true)
	_, purgeErr := c.PurgeQueue(name)
	_, deleteErr := c.DeleteQueue(name, false, false)
	_, declareErr := c.DeclareQueue(QueueSpec{Name: name, Passive: true})
	bindErr := c.Bind(BindSpec{Source: "amq.fanout", Destination: name})
	for what, err := range map[string]error{
		"consume": err, "get": getErr, "purge": purgeErr, "delete": deleteErr, "declare": declareErr, "bind": bindErr,
	} {
		if !errors.Is(err, ErrAccessRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if c.Reaches(nil, []byte(name), &message.Peek{}, nil) {
		t.Error("the default exchange leads to the buffer")
	}
	if _, err := c.Consume(shard.ConsumerSpec{Queue: "amq.relay.nothing"}); !errors.Is(err, ErrQueueNotFound) {
		t.Errorf("no buffer: %v", err)
	}
	for _, inner := range []any{nil, 5, "nonsense", "x-delayed-message"} {
		err := c.DeclareExchange(ExchangeSpec{
			Name: "bad", Type: "x-delayed-message", Args: message.Table{{Name: "x-delayed-type", Value: inner}},
		})
		if !errors.Is(err, ErrInvalidBinding) {
			t.Errorf("x-delayed-type %v: %v", inner, err)
		}
	}
}

// A delayed exchange keeps messages whatever their route to it.
func TestDelayedBehindOtherRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), threeShards)
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		c.delayed("later", "fanout", nil)
		c.queue("q", nil)
		c.bind("later", "q", "")
		must(t, c.DeclareExchange(ExchangeSpec{Name: "front", Type: "fanout", Durable: true, Alternate: ""}))
		must(t, c.Bind(BindSpec{Source: "front", Destination: "later", ToExchange: true}))
		c.queue("at once", nil)
		c.bind("front", "at once", "")
		must(t, c.DeclareExchange(ExchangeSpec{Name: "else", Type: "direct", Durable: true, Alternate: "later"}))
		c.queue("dying", func(s *QueueSpec) { s.Policy.DeadLetter, s.Policy.DeadLetterExchange = true, "later" })

		c.send("front", "", "bound", delayOf64(1000))
		c.send("else", "nowhere", "alternate", delayOf64(2000))
		c.send("", "dying", "dead", delayOf64(3000))
		d, _, _, err := c.Get("dying", false)
		must(t, err)
		c.Reject(d.Queue, nil, d.Handle, 1)
		c.Flush()
		synctest.Wait()
		sameStrings(t, c.drain("at once"), "bound")
		for _, want := range []string{"", "bound", "alternate", "dead"} {
			if got := strings.Join(c.drain("q"), " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			time.Sleep(time.Second + 5*time.Millisecond)
			synctest.Wait()
		}
	})
}

// A buffer with many messages stays exact and in order.
func TestDelayedCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards, o.MemoryLimit = 1, 1<<20 }) // many bodies must be read back
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		c.delayed("later", "fanout", nil)
		c.queue("q", nil)
		c.bind("later", "q", "")
		r := rand.New(rand.NewPCG(7, 7))
		n := 20_000
		if invariants.Enabled { // each step checks every message
			n = 5_000
		}
		start := time.Now()
		want := make([]int64, n)
		for i := range n {
			delay := 1000 + r.Int64N(20_000)
			want[i] = start.UnixMilli() + delay
			c.postProps("later", "", fmt.Sprint(want[i]), delayOf64(delay), nil)
			if i%100 == 99 { // the log is never behind: holding back a publisher would delay its messages
				c.Flush()
				synctest.Wait()
			}
		}
		c.until(func() bool { return len(c.acks) == n })
		if took := time.Since(start); took != 0 {
			t.Fatalf("publishing was held back for %v", took)
		}
		look(t, c.bufferOn("later"), func(s *queue.Deliveries) {
			cold := 0
			s.Each(0, func(it *queue.Item, _ queue.Status) bool {
				if it.Env == nil {
					cold++
				}
				return true
			})
			if cold < n/2 {
				t.Errorf("%d bodies of %d are on disk only", cold, n)
			}
		})
		c.consume("q", func(s *shard.ConsumerSpec) { s.NoAck = true })
		var got []int64
		for range n {
			d := c.take(1)[0]
			var at int64
			fmt.Sscan(string(d.Env.Body()), &at)
			if late := time.Now().UnixMilli() - at; late < 0 || late > 60 {
				t.Fatalf("message %d came %d ms late", len(got), late)
			}
			got = append(got, at)
		}
		if slices.Sort(want); !slices.IsSorted(got) {
			t.Error("they did not come in the order of their times")
		}
	})
}

// TestRenewBuffer: the buffer of a deleted exchange is no longer a target, even if another exchange
// has its name.
func TestRenewBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		c.delayed("late", "fanout", nil)
		targets := shard.NewTargets([]*shard.Queue{c.bufferOn("late")})
		if got := c.Renew(targets, ""); got.Empty() {
			t.Error("the buffer of an exchange that is there is no target")
		}
		must(t, c.DeleteExchange("late", false))
		if got := c.Renew(targets, ""); !got.Empty() {
			t.Error("the buffer of a deleted exchange is a target")
		}
		c.delayed("late", "fanout", nil)
		if got := c.Renew(targets, ""); !got.Empty() {
			t.Error("a deleted buffer is a target, since another has its name")
		}
	})
}
