package loans

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func (c client) fetch(q string, most int, keep func(message.Envelope) bool) []shard.Delivery {
	c.T.Helper()
	ds, err := Fetch(c.Session, q, most, keep)
	if err != nil {
		c.T.Fatal(err)
	}
	return ds
}

// Fetch lends the first messages at once, and no other session gets them. A released message is
// back in its place, with no sign that it was lent.
func TestFetchAndRelease(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.DeliveryLimit = 1 })
	for _, body := range []string{"a", "b", "c", "d"} {
		c.Put("q", body, nil)
	}
	for range 3 {
		got := c.fetch("q", 3, nil)
		same(t, bodies(got), "a", "b", "c")
		same(t, bodies(c.fetch("q", 3, nil)), "d")
		same(t, bodies(c.fetch("q", 3, nil)))
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
	enginetest.Must(t, tx.Commit())
	tx = c.NewTx()
	got = c.fetch("q", 1, nil)
	tx.Release(got[0].Queue, got[0].Handle, 1)
	enginetest.Must(t, tx.Commit())
	same(t, c.Drain("q"), "b", "c", "d")
	c.Close()
	enginetest.Close(t, b)
}

// A waiting consumer gets a released message as new.
func TestReleasedToAConsumer(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.Queue("q", nil)
	c.Put("q", "a", nil)
	d := c.fetch("q", 1, nil)[0]
	c.Consumes("q", nil)
	c.Release(d.Queue, d.Handle, 1)
	c.Flush()
	if got := c.Deliveries(1)[0]; got.Redelivered || got.Count != 0 {
		t.Errorf("redelivered %v, count %d", got.Redelivered, got.Count)
	}
	c.Close()
	enginetest.Close(t, b)
}

// Messages that keep refuses stay in place, even if most of the queue is only on disk and more than
// a page is refused.
func TestFetchChooses(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.MemoryLimit = 64 << 10 })
	c := newClient(t, b)
	c.Queue("q", nil)
	const n = 3000
	for i := range n {
		c.Post("", "q", fmt.Sprintf("%d %s", i, strings.Repeat("x", 100)), message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}, nil)
	}
	c.Flush()
	enginetest.Sync(t, b)
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
	enginetest.Close(t, b)
}

// A fetch gets what Get would get: no message of a group that another session holds, none that is
// not yet due, and none that has expired.
func TestFetchMindsWhatGetMinds(t *testing.T) {
	clock := enginetest.NewClock(1_000_000)
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.Now = clock.Now })
	c := newClient(t, b)
	c.Queue("groups", func(s *catalog.QueueSpec) { s.Policy.GroupHeader = "g" })
	put := func(q, body, group string, change func(*shard.Publish)) {
		props := message.Properties{
			Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: "g", Value: group}},
		}
		c.Post("", q, body, props, change)
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
	c.Queue("times", nil)
	put("times", "later", "", func(p *shard.Publish) { p.NotBefore = clock.MS.Load() + 1000 })
	put("times", "over", "", func(p *shard.Publish) { p.Deadline = clock.MS.Load() })
	put("times", "long over", "", func(p *shard.Publish) { p.Deadline = -5 })
	put("times", "soon over", "", func(p *shard.Publish) { p.Deadline = clock.MS.Load() + 500 })
	put("times", "sooner over", "", func(p *shard.Publish) { p.Deadline, p.TTL = clock.MS.Load()+5000, 300 })
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
	clock.MS.Store(1_001_100)
	same(t, bodies(c.fetch("times", 9, func(message.Envelope) bool { return true })), "later")
	same(t, bodies(c.fetch("times", 9, nil)))
	c.Close()
	enginetest.Close(t, b)
}

func TestFetchNeedsReadPermission(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.Queue("q", nil)
	_, err := b.SetPermission(catalog.Permission{User: "guest", VHost: "/", Configure: ".*", Write: ".*"})
	enginetest.Must(t, err)
	for _, keep := range []func(message.Envelope) bool{nil, func(message.Envelope) bool { return true }} {
		if _, err := Fetch(c.Session, "q", 1, keep); !errors.Is(err, failure.ErrAccessRefused) {
			t.Errorf("fetch: %v", err)
		}
	}
	_, err = b.SetPermission(catalog.Permission{User: "guest", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"})
	enginetest.Must(t, err)
	if _, err := Fetch(c.Session, "nowhere", 1, nil); !errors.Is(err, failure.ErrQueueNotFound) {
		t.Errorf("fetch: %v", err)
	}
	c.Close()
	enginetest.Close(t, b)
}

// loan is a message in the model of TestFetchTwin.
type loan struct {
	body, group string
	out         bool
	d           shard.Delivery
}

// Random fetches (with and without keep), releases, returns and acknowledgements give the same
// results as a slice with marks.
func TestFetchTwin(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("grouped %v seed %d", grouped, seed), func(t *testing.T) { fetchTwin(t, grouped, seed) })
		}
	}
}

func fetchTwin(t *testing.T, grouped bool, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	b := enginetest.Open(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.Queue("q", func(s *catalog.QueueSpec) {
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
			c.Post("", "q", m.body, message.Properties{
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
			same(t, bodies(got), want...)
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
	enginetest.Close(t, b)
}
