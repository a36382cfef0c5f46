package broker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// byType takes the requested position of a message from its property type.
func byType(o *Options) {
	o.Order = func(env message.Envelope) (dispatch.Place, bool) {
		props, err := message.DecodeProperties(env.Properties())
		at, e := strconv.ParseInt(props.Type, 10, 64)
		return dispatch.Place{At: at}, err == nil && e == nil
	}
}

// at publishes a message with a position. early means that the sender sets it.
func (c *client) at(body string, at int64, early bool, change func(*shard.Publish)) {
	c.t.Helper()
	props := message.Properties{
		Flags: message.HasDeliveryMode | message.HasType | message.HasMessageID, DeliveryMode: 2, Type: fmt.Sprint(at), MessageID: body,
	}
	c.postProps("", "q", body, props, func(p *shard.Publish) {
		if early {
			p.Order = &dispatch.Place{At: at}
		}
		if change != nil {
			change(p)
		}
	})
	c.settled("q")
}

func TestPlacesInAQueue(t *testing.T) {
	clock := newClock(1_000_000)
	fs := vfs.NewMem()
	change := func(o *Options) { byType(o); o.Now = clock.Now }
	b := openBroker(t, fs, change)
	c := newClient(t, b)
	c.queue("q", ordered)
	c.at("d", 40, false, nil)
	c.at("f", 60, false, nil)
	c.at("b", 20, true, nil)
	c.at("short", 1, true, func(p *shard.Publish) { p.TTL = 10 })
	c.at("a", 10, true, nil)
	c.at("e", 50, true, nil)
	c.put("", "q", "none", nil)
	clock.ms.Add(1000)
	c.settled("q")

	get := func(want string) shard.Delivery {
		t.Helper()
		d, _, _, err := c.Get("q", false)
		must(t, err)
		if string(d.Env.Body()) != want {
			t.Fatalf("got %q, want %q", d.Env.Body(), want)
		}
		return d
	}
	a := get("a")
	get("b")
	c.Requeue(a.Queue, nil, a.Handle, 1) // back to its position
	a = get("a")
	c.Release(a.Queue, a.Handle, 1)
	a = get("a")
	c.Requeue(a.Queue, nil, a.Handle, 1)
	c.Flush()

	// After a crash all are in their positions, for consumers and for Fetch.
	syncAll(t, b)
	b = openBroker(t, fs.CrashClone(rand.New(rand.NewPCG(1, 1))), change)
	c = newClient(t, b)
	ds := c.gets("q", 3)
	sameStrings(t, bodies(ds), "a", "b", "d")
	for _, d := range ds {
		c.Release(d.Queue, d.Handle, 1)
	}
	c.Flush()
	k := c.consume("q", prefetch(4))
	ds = c.take(4)
	sameStrings(t, bodies(ds), "a", "b", "d", "e")
	c.Cancel(k)
	for _, d := range ds {
		c.Return(d.Queue, nil, d.Handle, 1)
	}
	c.Flush()
	d, ok := c.lendID("q", "b")
	if !ok {
		t.Fatal("b cannot be lent")
	}
	c.ack(d)
	sameStrings(t, c.drain("q"), "a", "d", "e", "f", "none")

	// A blocked message takes its position once it is ready. A purge removes all. A consumer with a
	// selector gets all, in order of arrival.
	c.at("x", 50, false, nil)
	props := withHeaders("consume_after", "x")
	c.postProps("", "q", "waits", props, func(p *shard.Publish) { p.Order = &dispatch.Place{At: 5} })
	c.at("y", 70, false, nil)
	c.ack(get("x"))
	c.Flush()
	get("waits")
	c.at("z", 1, true, nil)
	if n, err := c.PurgeQueue("q"); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	c.at("2", 2, false, nil)
	c.at("1", 1, true, nil)
	all, err := selector.Compile("TRUE")
	must(t, err)
	c.consume("q", func(s *shard.ConsumerSpec) { s.Prefetch, s.Selector = 9, all })
	sameStrings(t, bodies(c.take(2)), "2", "1")
	c.pickyState("q", func(sh *shard.Shard, q *shard.Queue) {
		if shard.DebugOf(sh).HasEarly(q) {
			t.Error("messages out of the order of arrival are left behind")
		}
	})
	mustClose(t, b)
}

// TestPlacesTwin compares a queue with a sorted list, across random returns, settlements and
// restarts.
func TestPlacesTwin(t *testing.T) {
	type item struct {
		body string
		at   int64
		n    int
		out  bool
		d    shard.Delivery
	}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		mem := vfs.NewMem()
		change := func(o *Options) { byType(o); o.SegmentBytes, o.CheckpointBytes = 16<<10, 4<<10 }
		b := openBroker(t, mem, change)
		c := newClient(t, b)
		c.queue("q", ordered)
		var live []*item
		for step := range 600 {
			switch op := rng.IntN(20); {
			case op < 9:
				it := &item{body: fmt.Sprint(step), at: int64(step), n: step}
				if rng.IntN(3) == 0 {
					it.at = int64(rng.IntN(step + 1))
				}
				c.at(it.body, it.at, it.at != int64(step), nil)
				live = append(live, it)
				slices.SortFunc(live, func(a, b *item) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.n, b.n)) })
			case op < 14:
				d, _, ok, err := c.Get("q", false)
				must(t, err)
				i := slices.IndexFunc(live, func(it *item) bool { return !it.out })
				if ok != (i >= 0) || ok && string(d.Env.Body()) != live[i].body {
					t.Fatalf("seed %d, step %d: got %q, want %d of %v", seed, step, d.Env, i, live)
				}
				if ok {
					live[i].out, live[i].d = true, d
				}
			case op < 19 && len(live) > 0:
				i := rng.IntN(len(live))
				if it := live[i]; it.out {
					switch rng.IntN(3) {
					case 0:
						c.Requeue(it.d.Queue, nil, it.d.Handle, 1)
						it.out = false
					case 1:
						c.Release(it.d.Queue, it.d.Handle, 1)
						it.out = false
					default:
						c.Ack(it.d.Queue, nil, it.d.Handle, 1)
						live = slices.Delete(live, i, i+1)
					}
				}
			case op == 19 && rng.IntN(5) == 0:
				c.settled("q")
				b.checkpointDue(false)
				syncAll(t, b)
				mem = mem.CrashClone(rng)
				b = openBroker(t, mem, change)
				c = newClient(t, b)
				for _, it := range live {
					it.out = false
				}
			}
		}
		mustClose(t, b)
	}
}
