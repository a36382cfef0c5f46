package broker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways/internal/core/dispatch"
	"fiveways/internal/core/message"
	"fiveways/internal/storage/vfs"
)

// browse lists what a browser shows, n at a time.
func (c *client) browse(q string, n int) (out []string) {
	c.t.Helper()
	b, err := c.Browse(q)
	must(c.t, err)
	for {
		page, err := b.Next(n)
		must(c.t, err)
		if len(page) == 0 {
			return out
		}
		if len(page) > n {
			c.t.Fatalf("a page of %d, want at most %d", len(page), n)
		}
		for _, m := range page {
			out = append(out, fmt.Sprint(string(m.Env.Body()), " ", m.Status, " ", m.Count))
		}
	}
}

func TestBrowse(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { grouped(s); s.Policy.MaxPriority = 2 })
	sameStrings(t, c.browse("q", 10))
	for i, m := range []struct {
		key      string
		priority uint8
		due      time.Duration
	}{{"a", 0, 0}, {"a", 1, 0}, {"b", 0, time.Hour}, {"a", 1, 0}, {"c", 2, 0}, {"d", 0, 0}} {
		c.postProps("", "q", fmt.Sprint(m.key, i), withHeaders("key", m.key), func(p *Publish) {
			if p.Priority = m.priority; m.due > 0 {
				p.NotBefore = time.Now().Add(m.due).UnixMilli()
			}
		})
	}
	c.Flush()
	returned, _, _, err := c.Get("q", false)
	must(t, err)
	c.Requeue(returned.Queue, nil, returned.Handle, 1)
	k1, k2 := c.consume("q", prefetch(1)), c.consume("q", prefetch(1)) // c4, a1; then a3 is looked at and parked
	c.settled("q")
	want := []string{"c4 unacked 1", "a1 unacked 0", "a3 ready 0", "a0 ready 0", "b2 scheduled 0", "d5 ready 0"}
	for _, n := range []int{1, 2, 4, 100} {
		sameStrings(t, c.browse("q", n), want...)
	}
	sameStrings(t, bodies(append(c.of(k1), c.of(k2)...)), "c4", "a1")
	if info, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); err != nil || info.Ready != 3 || info.Consumers != 2 {
		t.Fatalf("%+v, %v", info, err)
	}
}

// TestBrowseWhatIsThere opens a browser and changes the queue under it: what comes later is not
// shown, what goes is left out, and the bodies come from memory, from the log and from the scratch
// log.
func TestBrowseWhatIsThere(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards, o.SegmentBytes, o.MemoryLimit = 1, 16<<10, 256<<10 })
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { s.Policy.MaxPriority = 3 })
	rng := rand.New(rand.NewPCG(1, 2))
	pad := strings.Repeat(".", 200)
	put := func(i int) {
		props := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: uint8(1 + rng.IntN(2))}
		c.postProps("", "q", fmt.Sprint(i, pad), props, func(p *Publish) { p.Priority = uint8(i / 1000) })
		if i%100 == 0 {
			c.settled("q")
		}
	}
	for i := range 4000 {
		put(i)
	}
	c.settled("q")
	browser, err := c.Browse("q")
	must(t, err)
	var got []string
	for {
		page, err := browser.Next(50)
		must(t, err)
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
			c.settled("q")
		}
	}
	var want []string
	for _, part := range [][2]int{{3000, 4000}, {2500, 3000}, {1000, 2000}, {0, 1000}} {
		for i := part[0]; i < part[1]; i++ {
			want = append(want, fmt.Sprint(i))
		}
	}
	sameStrings(t, got, want...)
	if err := c.failsToBrowse("nowhere"); err == nil {
		t.Fatal("no error")
	}
}

func (c *client) failsToBrowse(q string) error {
	_, err := c.Browse(q)
	return err
}

func plain(m *Browsed) message.Envelope { return m.Env }

func TestCopies(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { s.AutoDelete = true })
	for i, color := range []string{"r", "g", "r"} {
		c.postProps("", "q", color+fmt.Sprint(i), withHeaders("color", color), nil)
	}
	k, err := c.ConsumeCopies(ConsumerSpec{Queue: "q", Selector: wants("r")}, plain)
	must(t, err)
	c.until(func() bool { return len(c.cancelled) == 1 && c.cancelled[0] == k })
	ds := c.of(k)
	sameStrings(t, bodies(ds), "r0", "r2")
	if ds[0].Queue != nil {
		t.Error("a copy names a queue")
	}
	c.Cancel(k) // too late, and harmless
	sameStrings(t, c.drain("q"), "r0", "g1", "r2")
}

// TestCopiesForASlowReader fills the window in the middle; cancelling, deleting the queue and
// closing the session end the copies there.
func TestCopiesForASlowReader(t *testing.T) {
	for _, how := range []string{"read on", "cancel", "delete", "close"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := openBroker(t, vfs.NewMem(), func(o *Options) { o.MemoryLimit = 1 << 30 })
				defer mustClose(t, b)
				c, other := newClient(t, b), newClient(t, b)
				c.queue("q", nil)
				const n = 3 * pageMessages
				for i := range n {
					c.post("", "q", fmt.Sprint(i), nil)
				}
				c.Flush()
				c.window.Add(dispatch.WindowBytes)
				k, err := c.ConsumeCopies(ConsumerSpec{Queue: "q"}, plain)
				must(t, err)
				synctest.Wait() // it waits for room
				switch how {
				case "read on":
					c.window.Done(dispatch.WindowBytes)
					c.until(func() bool { return len(c.cancelled) == 1 })
					if got := c.of(k); len(got) != n {
						t.Fatalf("%d copies", len(got))
					}
					return
				case "cancel":
					c.Cancel(k)
				case "delete":
					must(t, err2(other.DeleteQueue("q", false, false)))
					c.window.Done(dispatch.WindowBytes)
					c.until(func() bool { return len(c.cancelled) == 1 })
					if got := c.of(k); len(got) > pageMessages {
						t.Fatalf("%d copies of a deleted queue", len(got))
					}
					return
				case "close":
					c.Close()
				}
				if got := c.of(k); len(got) != 0 || len(c.cancelled) != 0 {
					t.Fatalf("%d copies, %d cancelled", len(got), len(c.cancelled))
				}
				select {
				case <-k.copier.done:
				default:
					t.Fatal("the copier goes on")
				}
			})
		})
	}
}
