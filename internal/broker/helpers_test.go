package broker

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/followtest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// client is a session with a recording sink, for tests.
type client struct {
	t *testing.T
	*Session
	mu        sync.Mutex
	cond      *sync.Cond
	got       []shard.Delivery
	cancelled []*shard.Consumer
	acks      map[uint64]int // confirms per number
	nacks     map[uint64]int
	seq       uint64
}

func newClient(t *testing.T, b *Broker) *client {
	t.Helper()
	return newClientOn(t, b, "guest", "/")
}

// newSink returns a client without a session, for a session that is opened in another way.
func newSink(t *testing.T) *client {
	c := &client{t: t}
	c.cond = sync.NewCond(&c.mu)
	return c
}

func (c *client) Deliver(ds []shard.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, ds...)
	c.cond.Broadcast()
}

func (c *client) Cancelled(k *shard.Consumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = append(c.cancelled, k)
	c.cond.Broadcast()
}

func (c *client) Confirmed(from, to uint64, ok bool) {
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

// until waits until a condition on the record holds.
func (c *client) until(ok func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ok() {
		c.cond.Wait()
	}
}

// take waits for n deliveries and removes them from the record.
func (c *client) take(n int) []shard.Delivery {
	c.until(func() bool { return len(c.got) >= n })
	c.mu.Lock()
	defer c.mu.Unlock()
	ds := c.got[:n:n]
	c.got = c.got[n:]
	return ds
}

func (c *client) queue(name string, change func(*QueueSpec)) {
	c.t.Helper()
	spec := QueueSpec{Name: name, Durable: true, Policy: DefaultQueuePolicy()}
	if change != nil {
		change(&spec)
	}
	if _, err := c.DeclareQueue(spec); err != nil {
		c.t.Fatal(err)
	}
}

// post publishes body with a confirm, without waiting for it.
func (c *client) post(exchange, key, body string, change func(*shard.Publish)) uint64 {
	c.t.Helper()
	props := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}
	return c.postProps(exchange, key, body, props, change)
}

func (c *client) postProps(exchange, key, body string, props message.Properties, change func(*shard.Publish)) uint64 {
	c.t.Helper()
	raw := props.Append(nil)
	peek, err := message.PeekProperties(raw)
	if err != nil {
		c.t.Fatal(err)
	}
	targets, err := c.Route([]byte(exchange), []byte(key), &peek, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.seq++
	env := append(message.AppendEnvelopeHeader(nil, exchange, key, raw), body...)
	p := shard.Publish{Targets: targets, Env: env, Persistent: peek.Persistent(), TTL: -1, Confirm: c, Seq: c.seq}
	if change != nil {
		change(&p)
	}
	c.Publish(&p)
	return c.seq
}

// put publishes and waits for the confirms of all shards.
func (c *client) put(exchange, key, body string, change func(*shard.Publish)) {
	c.t.Helper()
	parts := 0
	seq := c.post(exchange, key, body, func(p *shard.Publish) {
		if change != nil {
			change(p)
		}
		parts = max(p.Targets.Parts(), 1)
	})
	c.Flush()
	c.until(func() bool { return c.acks[seq]+c.nacks[seq] == parts })
}

func (c *client) consume(q string, change func(*shard.ConsumerSpec)) *shard.Consumer {
	c.t.Helper()
	spec := shard.ConsumerSpec{Queue: q, Tag: "t"}
	if change != nil {
		change(&spec)
	}
	k, err := c.Consume(spec)
	if err != nil {
		c.t.Fatal(err)
	}
	return k
}

// drain gets and acknowledges all ready messages.
func (c *client) drain(q string) (bodies []string) {
	c.t.Helper()
	for {
		d, _, ok, err := c.Get(q, true)
		if err != nil {
			c.t.Fatal(err)
		}
		if !ok {
			return bodies
		}
		bodies = append(bodies, string(d.Env.Body()))
	}
}

func bodies(ds []shard.Delivery) (out []string) {
	for _, d := range ds {
		out = append(out, string(d.Env.Body()))
	}
	return out
}

func openBroker(t *testing.T, fs vfs.FS, change func(*Options)) *Broker {
	t.Helper()
	o := Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), DiskFreeLimit: -1, Shards: 2}
	if change != nil {
		change(&o)
	}
	var log *followtest.Log
	mem, inMemory := fs.(*vfs.Mem)
	own := o
	if inMemory && o.WrapLog == nil {
		own.WrapLog = func(st *store.Store) shardlog.Log {
			log = followtest.New(st, crashed(mem))
			return log
		}
	}
	b, err := Open(fs, "data", own)
	if err != nil {
		t.Fatal(err)
	}
	if inMemory {
		openedIn.Store(b, opened{mem, o, log})
		t.Cleanup(func() { openedIn.Delete(b) })
	}
	return b
}

// mustClose closes a broker, after a check that its log reproduces the same state.
func mustClose(t *testing.T, b *Broker) {
	t.Helper()
	sameWhenReplayed(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// syncAll makes everything requested from the shards durable, and waits for removals of queues.
func syncAll(t *testing.T, b *Broker) {
	t.Helper()
	must(t, b.Sync())
	untilRemoved(b)
	must(t, b.Sync())
}

func sameStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func tryOpen(fs vfs.FS, change func(*Options)) (*Broker, error) {
	o := Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), DiskFreeLimit: -1, Shards: 2}
	change(&o)
	return Open(fs, "data", o)
}

// newClientOn is newClient for another user and virtual host.
func newClientOn(t *testing.T, b *Broker, user, vhost string) *client {
	t.Helper()
	c := &client{t: t, acks: map[uint64]int{}, nacks: map[uint64]int{}}
	c.cond = sync.NewCond(&c.mu)
	s, err := b.NewSession(SessionOptions{User: user, VHost: vhost, Sink: c})
	if err != nil {
		t.Fatal(err)
	}
	c.Session = s
	return c
}

// steppedClock is a time in unix ms that stands still until a test sets it.
type steppedClock struct{ ms atomic.Int64 }

func newClock(ms int64) *steppedClock {
	c := &steppedClock{}
	c.ms.Store(ms)
	return c
}

// Now is a clock for Options.
func (c *steppedClock) Now() time.Time { return time.UnixMilli(c.ms.Load()) }

// crashed returns the file system after a power failure.
func crashed(mem *vfs.Mem) *vfs.Mem { return mem.CrashClone(rand.New(rand.NewPCG(1, 1))) }

// shown is a message as listed in its queue.
type shown struct {
	handle queue.Handle
	id     string // message-id
	body   string
	status queue.Status
	count  uint32
}

// shownIn lists the messages of a queue like package inspect, which this package cannot import.
func shownIn(s *Session, name string) (all []shown, err error) {
	s.Flush()
	q, err := s.usableQueue(name)
	if err != nil {
		return nil, err
	}
	at := shard.ContextOf(q)
	err = q.Home().Call(func() {
		shard.ContextOf(q).Deliveries().Each(shard.ContextOf(q).Deliveries().First(), func(it *queue.Item, status queue.Status) bool {
			if status == queue.Parked {
				status = queue.Ready
			}
			if env, err := at.Load(it); err == nil {
				id, _ := message.FindProperty(env.Properties(), message.HasMessageID)
				all = append(all, shown{it.Handle, string(id), string(env.Body()), status, it.Count})
			}
			return true
		})
	})
	return all, err
}

// browse lists the messages of a queue: their bodies, their states, and how often they were
// returned.
func (c *client) browse(q string) (out []string) {
	c.t.Helper()
	all, err := shownIn(c.Session, q)
	must(c.t, err)
	for _, m := range all {
		out = append(out, fmt.Sprint(m.body, " ", m.status, " ", m.count))
	}
	return out
}

// adding adds an entry to a stream, and turns an empty queue into one.
type adding struct {
	OnQueue
	id   stream.ID
	body string
}

func newAdd(queue string, ms uint64, body string) *adding {
	return &adding{OnQueue: on(queue), id: stream.ID{Ms: ms}, body: body}
}

func (a *adding) Find(f Finder) (*shard.Queue, error) { return f.ToPublish(a.Queue, true) }

func (a *adding) Run(at shard.Context) error {
	if at.Content().Stream == nil {
		if err := at.MakeStream(); err != nil {
			return err
		}
	}
	return at.PublishEntry(a.By(), &shard.Publish{Env: bareEnvelope(a.Queue, []byte(a.body)), Persistent: true, TTL: -1}, a.id)
}

func (*adding) OfStreams() {}

// pushing adds messages to a queue. With popping and moving it stands in for the commands of
// package lists, which this package cannot import.
type pushing struct {
	OnQueue
	Bodies [][]byte
	Create bool
	Len    int // number of ready messages afterwards
}

func (p *pushing) Find(f Finder) (*shard.Queue, error) { return f.ToPublish(p.Queue, p.Create) }

func (p *pushing) Run(at shard.Context) error {
	for _, body := range p.Bodies {
		if err := at.Publish(p.By(), &shard.Publish{Env: bareEnvelope(p.Queue, body), Persistent: true, TTL: -1}); err != nil {
			return err
		}
	}
	p.Len = at.Deliveries().Ready()
	return nil
}

// popping takes messages from a queue.
type popping struct {
	OnQueue
	Max    int
	Create bool
	Bodies [][]byte
}

func (p *popping) Find(f Finder) (*shard.Queue, error) { return f.Queue(Reading, p.Queue, p.Create) }

func (p *popping) Got() bool { return len(p.Bodies) > 0 }

func (p *popping) Run(at shard.Context) error {
	p.Bodies = nil
	for len(p.Bodies) < p.Max {
		it := at.Take(p.By(), false, true)
		if it == nil {
			break
		}
		at.Settle(it.Handle, 1)
		p.Bodies = append(p.Bodies, it.Env.Body())
	}
	return nil
}

// moving moves a message to a queue on the same shard.
type moving struct {
	OnQueue
	To   string
	Body []byte // nil: there was none

	to *shard.Queue
}

func (m *moving) Find(f Finder) (q *shard.Queue, err error) {
	if m.to, err = f.ToPublish(m.To, false); err != nil {
		return nil, err
	}
	return f.Queue(Reading, m.Queue, false)
}

func (m *moving) Got() bool { return m.Body != nil }

func (m *moving) Run(at shard.Context) error {
	m.Body = nil
	it := at.Take(m.By(), false, false)
	if it == nil {
		return nil
	}
	m.Body = it.Env.Body()
	err := at.Other(m.to).Publish(m.By(), &shard.Publish{Env: it.Env, Persistent: true, TTL: -1, Reserved: true})
	at.Settle(it.Handle, 1)
	return err
}

func on(queue string) OnQueue { return OnQueue{Queue: queue} }

func texts(bodies [][]byte) (out []string) {
	for _, b := range bodies {
		out = append(out, string(b))
	}
	return out
}

func values(texts ...string) (out [][]byte) {
	for _, s := range texts {
		out = append(out, []byte(s))
	}
	return out
}

// do runs commands that must all succeed.
func (c *client) do(commands ...Command) {
	c.t.Helper()
	if err := c.Do(commands...); err != nil {
		c.t.Fatal(err)
	}
	for _, k := range commands {
		if err := k.on().Err; err != nil {
			c.t.Fatalf("%T: %v", k, err)
		}
	}
}

// bareProps are the properties of a persistent message.
var bareProps = (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}).Append(nil)

func bareEnvelope(queueName string, body []byte) message.Envelope {
	return append(message.AppendEnvelopeHeader(nil, "", queueName, bareProps), body...)
}
