package inspect

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// rest is what a browser still shows, n at a time: bodies, what is happening to the messages, and
// how often they came back.
func rest(t *testing.T, b *Browser, n int) (out []string) {
	t.Helper()
	for {
		page, err := b.Next(n)
		enginetest.Must(t, err)
		if len(page) == 0 {
			return out
		}
		if len(page) > n {
			t.Fatalf("a page of %d, want at most %d", len(page), n)
		}
		for _, m := range page {
			out = append(out, fmt.Sprint(string(m.Env.Body()), " ", m.Status, " ", m.Count))
		}
	}
}

// browse opens a browser.
func browse(c *enginetest.Client, q string) *Browser {
	c.T.Helper()
	b, err := Browse(c.Session, q)
	enginetest.Must(c.T, err)
	return b
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// header is the properties of a persistent message with a header.
func header(name, value string) message.Properties {
	return message.Properties{
		Flags: message.HasHeaders | message.HasDeliveryMode, DeliveryMode: 2, Headers: message.Table{{Name: name, Value: value}},
	}
}

func TestBrowse(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.GroupHeader, s.Policy.MaxPriority = "key", 2 })
	same(t, rest(t, browse(c, "q"), 10))
	for i, m := range []struct {
		key      string
		priority uint8
		due      time.Duration
	}{{"a", 0, 0}, {"a", 1, 0}, {"b", 0, time.Hour}, {"a", 1, 0}, {"c", 2, 0}, {"d", 0, 0}} {
		c.Post("", "q", fmt.Sprint(m.key, i), header("key", m.key), func(p *shard.Publish) {
			if p.Priority = m.priority; m.due > 0 {
				p.NotBefore = time.Now().Add(m.due).UnixMilli()
			}
		})
	}
	c.Flush()
	returned, _, _, err := c.Get("q", false)
	enginetest.Must(t, err)
	c.Requeue(returned.Queue, nil, returned.Handle, 1)
	one := func(s *shard.ConsumerSpec) { s.Prefetch = 1 }
	k1, k2 := c.Consumes("q", one), c.Consumes("q", one)
	ds := c.Deliveries(2) // c4, a1; then a3 is looked at and set aside
	slices.SortFunc(ds, func(a, b shard.Delivery) int { return strings.Compare(string(b.Env.Body()), string(a.Env.Body())) })
	if same(t, enginetest.Bodies(ds), "c4", "a1"); ds[0].Consumer != k1 || ds[1].Consumer != k2 {
		t.Error("the consumers did not take turns")
	}
	want := []string{"c4 unacked 1", "a1 unacked 0", "a3 ready 0", "a0 ready 0", "b2 scheduled 0", "d5 ready 0"}
	for _, n := range []int{1, 2, 4, 100} {
		same(t, rest(t, browse(c, "q"), n), want...)
	}
	ready, err := BrowseReady(c.Session, "q")
	enginetest.Must(t, err)
	same(t, rest(t, ready, 2), "a3 ready 0", "a0 ready 0", "d5 ready 0")
	if info, err := c.DeclareQueue(catalog.QueueSpec{Name: "q", Passive: true}); err != nil || info.Ready != 3 || info.Consumers != 2 {
		t.Fatalf("%+v, %v", info, err)
	}
}

// TestBrowseWhatIsThere opens a browser and changes the queue under it: what comes later is not
// shown, what goes is left out, and the bodies come from memory, from the log and from the scratch
// log.
func TestBrowseWhatIsThere(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.Shards, o.SegmentBytes, o.MemoryLimit = 1, 16<<10, 256<<10 })
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.MaxPriority = 3 })
	rng := rand.New(rand.NewPCG(1, 2))
	pad := strings.Repeat(".", 200)
	put := func(i int) {
		props := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: uint8(1 + rng.IntN(2))}
		c.Post("", "q", fmt.Sprint(i, pad), props, func(p *shard.Publish) { p.Priority = uint8(i / 1000) })
		if i%100 == 0 {
			c.At("q", func(shard.Context) {}) // flushes
		}
	}
	for i := range 4000 {
		put(i)
	}
	browser := browse(c, "q")
	var got []string
	for {
		page, err := browser.Next(50)
		enginetest.Must(t, err)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			got = append(got, strings.TrimRight(string(m.Env.Body()), "."))
		}
		if len(got) == 1000 {
			for range 1500 {
				if _, _, ok, err := c.Get("q", true); err != nil || !ok {
					t.Fatal(ok, err)
				}
			}
			for i := range 400 {
				put(10 * i)
			}
			c.At("q", func(shard.Context) {})
		}
	}
	var want []string
	for _, part := range [][2]int{{3000, 4000}, {2500, 3000}, {1000, 2000}, {0, 1000}} {
		for i := part[0]; i < part[1]; i++ {
			want = append(want, fmt.Sprint(i))
		}
	}
	same(t, got, want...)
	if _, err := Browse(c.Session, "nowhere"); !errors.Is(err, failure.ErrQueueNotFound) {
		t.Fatal(err)
	}
}

// A browser that was told to begin at a place shows what stands there and behind it, and one that
// skips messages counts them.
func TestSeekAndSkip(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	c.Queue("q", nil)
	for _, body := range []string{"a", "b", "c", "d"} {
		c.Put("q", body, nil)
	}
	behind := browse(c, "q")
	behind.Seek(2)
	same(t, rest(t, behind, 10), "b ready 0", "c ready 0", "d ready 0")
	behind = browse(c, "q")
	behind.After(2)
	same(t, rest(t, behind, 10), "c ready 0", "d ready 0")
	behind = browse(c, "q")
	if n, err := behind.Skip(4); n != 3 || err != nil {
		t.Fatalf("skipped %d, %v", n, err)
	}
	same(t, rest(t, behind, 10), "d ready 0")
	if n, err := behind.Skip(5); n != 0 || err != nil {
		t.Fatalf("skipped %d at the end, %v", n, err)
	}
}

func plain(m *Message) message.Envelope { return m.Env }

func TestCopies(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	c.Queue("q", func(s *catalog.QueueSpec) { s.AutoDelete = true })
	for i, color := range []string{"r", "g", "r"} {
		c.Post("", "q", color+fmt.Sprint(i), header("color", color), nil)
	}
	red, err := selector.Compile("color = 'r'")
	enginetest.Must(t, err)
	k, err := ConsumeCopies(c.Session, shard.ConsumerSpec{Queue: "q", Selector: red}, plain)
	enginetest.Must(t, err)
	c.UntilCancelled(k)
	ds := c.Received()
	same(t, enginetest.Bodies(ds), "r0", "r2")
	if ds[0].Queue != nil || ds[0].Consumer != k {
		t.Error("a copy names a queue, or another consumer")
	}
	c.Cancel(k) // too late, and harmless
	same(t, c.Drain("q"), "r0", "g1", "r2")
}

// TestCopiesForASlowReader fills the window in the middle; cancelling, deleting the queue and
// closing the session end the copies there.
func TestCopiesForASlowReader(t *testing.T) {
	const n = 3 * shard.PageMessages
	for _, how := range []string{"read on", "cancel", "delete", "close"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.MemoryLimit = 1 << 30 })
				defer enginetest.Close(t, b)
				c, other := enginetest.NewClient(t, b), enginetest.NewClient(t, b)
				c.Queue("q", nil)
				for i := range n {
					c.Post("", "q", fmt.Sprint(i), message.Properties{}, nil)
				}
				c.Flush()
				c.Window().Add(dispatch.WindowBytes)
				k, err := ConsumeCopies(c.Session, shard.ConsumerSpec{Queue: "q"}, plain)
				enginetest.Must(t, err)
				synctest.Wait() // it waits for room
				switch how {
				case "read on":
					c.Window().Done(dispatch.WindowBytes)
					c.UntilCancelled(k)
					if got := c.Received(); len(got) != n {
						t.Fatalf("%d copies", len(got))
					}
					return
				case "cancel":
					c.Cancel(k)
				case "delete":
					_, err := other.DeleteQueue("q", false, false)
					enginetest.Must(t, err)
					c.Window().Done(dispatch.WindowBytes)
					c.UntilCancelled(k)
					if got := c.Received(); len(got) > shard.PageMessages {
						t.Fatalf("%d copies of a deleted queue", len(got))
					}
					return
				case "close":
					c.Close()
				}
				if got := c.Received(); len(got) != 0 || c.Cancellations() != 0 {
					t.Fatalf("%d copies, %d cancelled", len(got), c.Cancellations())
				}
			}) // the bubble ends only when the goroutine of the copies has
		})
	}
}
