package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways/internal/core/message"
	"fiveways/internal/storage/vfs"
)

func (c *client) fetch(q string, most int, keep func(message.Envelope) bool) []Delivery {
	c.t.Helper()
	ds, err := c.Fetch(Fetch{Queue: q, Max: most, Keep: keep})
	if err != nil {
		c.t.Fatal(err)
	}
	return ds
}

// Fetch lends the first messages in one go, to nobody else; what is released is where it was, and
// nothing tells that it was away.
func TestFetchAndRelease(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { s.Policy.DeliveryLimit = 1 })
	for _, body := range []string{"a", "b", "c", "d"} {
		c.put("", "q", body, nil)
	}
	for range 3 {
		got := c.fetch("q", 3, nil)
		sameStrings(t, bodies(got), "a", "b", "c")
		sameStrings(t, bodies(c.fetch("q", 3, nil)), "d")
		sameStrings(t, bodies(c.fetch("q", 3, nil)))
		for _, d := range got {
			if d.Redelivered || d.Count != 0 {
				t.Fatalf("%s: redelivered %v, count %d", d.Env.Body(), d.Redelivered, d.Count)
			}
		}
		c.Release(got[0].Queue, got[0].Handle, 4)
	}
	got := c.fetch("q", 1, nil)
	tx := c.NewTx()
	tx.Ack(got[0].Queue, nil, got[0].Handle, 1)
	must(t, tx.Commit())
	tx = c.NewTx()
	got = c.fetch("q", 1, nil)
	tx.Release(got[0].Queue, got[0].Handle, 1)
	must(t, tx.Commit())
	sameStrings(t, c.drain("q"), "b", "c", "d")
	c.Close()
	mustClose(t, b)
}

// A consumer that waits gets what is released, as new.
func TestReleasedToAConsumer(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", nil)
	c.put("", "q", "a", nil)
	d := c.fetch("q", 1, nil)[0]
	c.consume("q", nil)
	c.Release(d.Queue, d.Handle, 1)
	c.Flush()
	if got := c.take(1)[0]; got.Redelivered || got.Count != 0 {
		t.Errorf("redelivered %v, count %d", got.Redelivered, got.Count)
	}
	c.Close()
	mustClose(t, b)
}

// What a choice refuses stays where it is, also where most of the queue is on disk only and more
// than a page is refused.
func TestFetchChooses(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.MemoryLimit = 64 << 10 })
	c := newClient(t, b)
	c.queue("q", nil)
	const n = 3000
	for i := range n {
		c.post("", "q", fmt.Sprintf("%d %s", i, strings.Repeat("x", 100)), nil)
	}
	c.Flush()
	c.until(func() bool { return len(c.acks) == n })
	number := func(env message.Envelope) (i int) {
		fmt.Sscan(string(env.Body()), &i)
		return i
	}
	last := c.fetch("q", 5, func(env message.Envelope) bool { return number(env) >= n-2 })
	if len(last) != 2 || number(last[0].Env) != n-2 || number(last[1].Env) != n-1 {
		t.Fatalf("got %d messages", len(last))
	}
	looked := 0
	even := c.fetch("q", 3, func(env message.Envelope) bool { looked++; return number(env)%2 == 0 })
	if len(even) != 3 || number(even[2].Env) != 4 || looked != 5 {
		t.Fatalf("got %d messages with %d looks", len(even), looked)
	}
	if rest := c.fetch("q", n, nil); len(rest) != n-5 || number(rest[0].Env) != 1 || number(rest[1].Env) != 3 || number(rest[2].Env) != 5 {
		t.Fatalf("got %d messages", len(rest))
	}
	c.Close()
	mustClose(t, b)
}

// A fetch takes what a Get would: nothing that somebody else holds the group of, or whose time is
// not there or over.
func TestFetchMindsWhatGetMinds(t *testing.T) {
	clock := newClock(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = clock.Now })
	c := newClient(t, b)
	c.queue("groups", func(s *QueueSpec) { s.Policy.GroupHeader = "g" })
	put := func(q, body, group string, change func(*Publish)) {
		props := message.Properties{
			Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: "g", Value: group}},
		}
		c.postProps("", q, body, props, change)
	}
	put("groups", "a1", "a", nil)
	put("groups", "a2", "a", nil)
	put("groups", "b1", "b", nil)
	for name, keep := range map[string]func(message.Envelope) bool{"all": nil, "chosen": func(message.Envelope) bool { return true }} {
		got := c.fetch("groups", 9, keep)
		if fmt.Sprint(bodies(got)) != "[a1 b1]" {
			t.Errorf("%s: got %q", name, bodies(got))
		}
		for _, d := range got {
			c.Release(d.Queue, d.Handle, 1)
		}
	}
	c.queue("times", nil)
	put("times", "later", "", func(p *Publish) { p.NotBefore = clock.ms.Load() + 1000 })
	put("times", "over", "", func(p *Publish) { p.Deadline = clock.ms.Load() })
	put("times", "long over", "", func(p *Publish) { p.Deadline = -5 })
	put("times", "soon over", "", func(p *Publish) { p.Deadline = clock.ms.Load() + 500 })
	put("times", "sooner over", "", func(p *Publish) { p.Deadline, p.TTL = clock.ms.Load()+5000, 300 })
	for name, keep := range map[string]func(message.Envelope) bool{"all": nil, "chosen": func(message.Envelope) bool { return true }} {
		got := c.fetch("times", 9, keep)
		if fmt.Sprint(bodies(got)) != "[soon over sooner over]" {
			t.Errorf("%s: got %q", name, bodies(got))
		}
		for _, d := range got {
			c.Release(d.Queue, d.Handle, 1)
		}
	}
	c.Flush()
	clock.ms.Store(1_001_100)
	sameStrings(t, bodies(c.fetch("times", 9, func(message.Envelope) bool { return true })), "later")
	sameStrings(t, bodies(c.fetch("times", 9, nil)))
	c.Close()
	mustClose(t, b)
}

// A deadline is as durable as its message, also in an exchange that holds messages.
func TestDeadlines(t *testing.T) {
	fs := vfs.NewMem()
	clock := newClock(1_000_000)
	clocked := func(o *Options) { o.Now = clock.Now }
	b := openBroker(t, fs, clocked)
	c := newClient(t, b)
	c.queue("q", nil)
	must(t, c.DeclareExchange(ExchangeSpec{
		Name: "hold", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}},
	}))
	must(t, c.Bind(BindSpec{Source: "hold", Destination: "q"}))
	until := func(ms int64) func(*Publish) { return func(p *Publish) { p.Deadline = ms } }
	c.put("", "q", "short", until(1_001_000))
	c.put("", "q", "long", until(1_005_000))
	held := message.Properties{
		Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: "x-delay", Value: int32(500)}},
	}
	for _, ms := range []int64{1_000_400, 1_002_500, 1_009_000} {
		seq := c.postProps("hold", "", fmt.Sprint("held until ", ms), held, until(ms))
		c.Flush()
		c.until(func() bool { return c.acks[seq] == 1 })
	}
	c.Close()
	mustClose(t, b)
	clock.ms.Store(1_002_000)
	b = openBroker(t, fs, clocked)
	c = newClient(t, b)
	for _, sh := range b.shards { // what was held arrives
		must(t, sh.call(func() {}))
		must(t, sh.call(func() {}))
	}
	got := c.fetch("q", 9, nil)
	sameStrings(t, bodies(got), "long", "held until 1002500", "held until 1009000")
	for _, d := range got {
		c.Release(d.Queue, d.Handle, 1)
	}
	c.Flush()
	clock.ms.Store(1_003_000)
	sameStrings(t, c.drain("q"), "long", "held until 1009000")
	c.Close()
	mustClose(t, b)
}

func TestFetchNeedsReadPermission(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", nil)
	_, err := b.SetPermission(Permission{User: "guest", VHost: "/", Configure: ".*", Write: ".*"})
	must(t, err)
	for _, keep := range []func(message.Envelope) bool{nil, func(message.Envelope) bool { return true }} {
		if _, err := c.Fetch(Fetch{Queue: "q", Max: 1, Keep: keep}); !errors.Is(err, ErrAccessRefused) {
			t.Errorf("fetch: %v", err)
		}
	}
	_, err = b.SetPermission(Permission{User: "guest", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"})
	must(t, err)
	if _, err := c.Fetch(Fetch{Queue: "nowhere", Max: 1}); !errors.Is(err, ErrQueueNotFound) {
		t.Errorf("fetch: %v", err)
	}
	c.Close()
	mustClose(t, b)
}

func TestTargetsWithout(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout"}))
	for _, q := range []string{"q1", "q2", "q3"} {
		c.queue(q, nil)
		must(t, c.Bind(BindSpec{Source: "x", Destination: q}))
	}
	all, err := c.Route([]byte("x"), nil, &message.Peek{}, nil)
	must(t, err)
	names := func(targets Targets) (names []string) {
		for _, q := range targets.Queues() {
			names = append(names, q.Name)
		}
		slices.Sort(names)
		return names
	}
	sameStrings(t, names(all.Without("q2")), "q1", "q3")
	sameStrings(t, names(all.Without("q9")), "q1", "q2", "q3")
	if rest := all.Without("q1").Without("q2").Without("q3"); !rest.Empty() || rest.Parts() != 0 || all.Parts() != 2 {
		t.Errorf("left %v, all in %d parts", names(rest), all.Parts())
	}
	c.Close()
	mustClose(t, b)
}

// loan is a message of the twin of TestFetchTwin.
type loan struct {
	body, group string
	out         bool
	d           Delivery
}

// Random fetches, with and without a choice, releases, returns and acknowledgements give what a
// slice with marks gives.
func TestFetchTwin(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("grouped %v seed %d", grouped, seed), func(t *testing.T) { fetchTwin(t, grouped, seed) })
		}
	}
}

func fetchTwin(t *testing.T, grouped bool, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) {
		if grouped {
			s.Policy.GroupHeader = "g"
		}
	})
	var all []*loan
	held := func(group string) bool {
		return grouped && slices.ContainsFunc(all, func(m *loan) bool { return m.out && m.group == group })
	}
	for i := range 400 {
		switch rng.IntN(5) {
		case 0, 1:
			m := &loan{body: fmt.Sprint(i), group: fmt.Sprint(rng.IntN(4))}
			c.postProps("", "q", m.body, message.Properties{
				Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: "g", Value: m.group}},
			}, nil)
			all = append(all, m)
		case 2, 3:
			most, odd, chosen := 1+rng.IntN(4), rng.IntN(3), rng.IntN(2) == 0
			var keep func(message.Envelope) bool
			wanted := func(body string) bool { return !chosen || int(body[len(body)-1])%3 == odd }
			if chosen {
				keep = func(env message.Envelope) bool { return wanted(string(env.Body())) }
			}
			got := c.fetch("q", most, keep)
			var want []string
			for _, m := range all {
				if !m.out && len(want) < most && wanted(m.body) && !held(m.group) {
					if len(want) < len(got) {
						m.d = got[len(want)]
					}
					m.out = true
					want = append(want, m.body)
				}
			}
			sameStrings(t, bodies(got), want...)
		case 4:
			for j := range all {
				m := all[j]
				if !m.out || rng.IntN(2) == 0 {
					continue
				}
				switch rng.IntN(3) {
				case 0:
					c.Release(m.d.Queue, m.d.Handle, 1)
					m.out = false
				case 1:
					c.Requeue(m.d.Queue, nil, m.d.Handle, 1)
					m.out = false
				default:
					c.Ack(m.d.Queue, nil, m.d.Handle, 1)
					m.body = ""
				}
			}
			all = slices.DeleteFunc(all, func(m *loan) bool { return m.body == "" })
		}
	}
	c.Close()
	mustClose(t, b)
}
