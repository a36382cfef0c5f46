package enginetest

import (
	"slices"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// Client is a session with a sink that records.
type Client struct {
	*broker.Session
	T testing.TB
	B *broker.Broker

	mu    sync.Mutex
	cond  *sync.Cond
	got   []shard.Delivery
	ended []*shard.Consumer // cancelled by the broker
	acks  map[uint64]int    // confirms per number
	nacks map[uint64]int
	seq   uint64
}

// NewClient is a client of the user guest in the virtual host /.
func NewClient(t testing.TB, b *broker.Broker) *Client {
	t.Helper()
	c := &Client{T: t, B: b, acks: map[uint64]int{}, nacks: map[uint64]int{}}
	c.cond = sync.NewCond(&c.mu)
	s, err := b.NewSession(broker.SessionOptions{User: "guest", VHost: "/", Sink: c})
	Must(t, err)
	c.Session = s
	return c
}

// Deliver implements shard.Sink.
func (c *Client) Deliver(ds []shard.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, ds...)
	c.cond.Broadcast()
}

// Cancelled implements shard.Sink.
func (c *Client) Cancelled(k *shard.Consumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, k)
	c.cond.Broadcast()
}

// UntilCancelled waits until the broker has cancelled a consumer.
func (c *Client) UntilCancelled(k *shard.Consumer) {
	c.until(func() bool { return slices.Contains(c.ended, k) })
}

// Cancellations is how many consumers the broker has cancelled.
func (c *Client) Cancellations() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ended)
}

// Confirmed implements shardlog.Confirmer.
func (c *Client) Confirmed(from, to uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := from; n <= to; n++ {
		if ok {
			c.acks[n]++
		} else {
			c.nacks[n]++
		}
	}
	c.cond.Broadcast()
}

func (c *Client) until(ok func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ok() {
		c.cond.Wait()
	}
}

// Deliveries waits for n deliveries and removes them from the record.
func (c *Client) Deliveries(n int) []shard.Delivery {
	c.until(func() bool { return len(c.got) >= n })
	c.mu.Lock()
	defer c.mu.Unlock()
	ds := c.got[:n:n]
	c.got = c.got[n:]
	return ds
}

// Received returns the deliveries that have come, and removes them from the record.
func (c *Client) Received() []shard.Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	ds := c.got
	c.got = nil
	return ds
}

// Bodies are those of deliveries.
func Bodies(ds []shard.Delivery) (bodies []string) {
	for _, d := range ds {
		bodies = append(bodies, string(d.Env.Body()))
	}
	return bodies
}

// Queue declares a durable queue; change may be nil.
func (c *Client) Queue(name string, change func(*catalog.QueueSpec)) {
	c.T.Helper()
	spec := catalog.QueueSpec{Name: name, Durable: true, Policy: catalog.DefaultQueuePolicy()}
	if change != nil {
		change(&spec)
	}
	_, err := c.DeclareQueue(spec)
	Must(c.T, err)
}

// Post publishes a message to an exchange, with a confirm for which it does not wait. change may be
// nil.
func (c *Client) Post(exchange, key, body string, props message.Properties, change func(*shard.Publish)) (seq uint64) {
	c.T.Helper()
	raw := props.Append(nil)
	peek, err := message.PeekProperties(raw)
	Must(c.T, err)
	targets, err := c.Route([]byte(exchange), []byte(key), &peek, nil)
	Must(c.T, err)
	c.seq++
	env := append(message.AppendEnvelopeHeader(nil, exchange, key, raw), body...)
	p := shard.Publish{Targets: targets, Env: env, Persistent: peek.Persistent(), TTL: -1, Confirm: c, Seq: c.seq}
	if change != nil {
		change(&p)
	}
	c.Publish(&p)
	return c.seq
}

// Send is Post that waits for the confirm.
func (c *Client) Send(exchange, key, body string, props message.Properties, change func(*shard.Publish)) {
	c.T.Helper()
	seq := c.Post(exchange, key, body, props, change)
	c.Flush()
	c.until(func() bool { return c.acks[seq]+c.nacks[seq] > 0 })
}

// Put publishes a persistent message to a queue and waits for its confirm.
func (c *Client) Put(queue, body string, change func(*shard.Publish)) {
	c.T.Helper()
	c.Send("", queue, body, message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}, change)
}

// Consumes registers a consumer of a queue; change may be nil.
func (c *Client) Consumes(queue string, change func(*shard.ConsumerSpec)) *shard.Consumer {
	c.T.Helper()
	spec := shard.ConsumerSpec{Queue: queue, Tag: "t"}
	if change != nil {
		change(&spec)
	}
	k, err := c.Consume(spec)
	Must(c.T, err)
	return k
}

// Drain gets all that is ready, acknowledged.
func (c *Client) Drain(queue string) (bodies []string) {
	c.T.Helper()
	for {
		d, _, ok, err := c.Get(queue, true)
		Must(c.T, err)
		if !ok {
			return bodies
		}
		bodies = append(bodies, string(d.Env.Body()))
	}
}

// MustDo does commands that must all go well.
func (c *Client) MustDo(commands ...broker.Command) {
	c.T.Helper()
	Must(c.T, c.Do(commands...))
	for _, k := range commands {
		if err := k.Failure(); err != nil {
			c.T.Fatalf("%T: %v", k, err)
		}
	}
}

// look is a command that runs a function.
type look struct {
	broker.OnQueue
	fn func(shard.Context)
}

// Find implements broker.Command.
func (l *look) Find(f broker.Finder) (*shard.Queue, error) {
	return f.Queue(broker.Reading, l.Queue, false)
}

// Run implements broker.Command.
func (l *look) Run(at shard.Context) error {
	l.fn(at)
	return nil
}

// OfStreams: any queue may be looked at.
func (*look) OfStreams() {}

// At runs fn at the shard of a queue, which must be there.
func (c *Client) At(queue string, fn func(shard.Context)) {
	c.T.Helper()
	c.MustDo(&look{OnQueue: On(queue), fn: fn})
}

// On is for commands about a queue.
func On(queue string) broker.OnQueue { return broker.OnQueue{Queue: queue} }

// TwoShards opens a broker with two queues that lie on two shards.
func TwoShards(t testing.TB, c *Client) (here, there string) {
	t.Helper()
	shardOf := func(name string) (on uint32) {
		c.Queue(name, nil)
		c.At(name, func(at shard.Context) { on = at.Shard() })
		return on
	}
	first := shardOf("q0")
	for _, name := range []string{"q1", "q2", "q3", "q4"} {
		if shardOf(name) != first {
			return "q0", name
		}
	}
	t.Fatal("all queues lie on one shard")
	return "", ""
}
