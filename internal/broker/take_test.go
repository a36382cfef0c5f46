package broker

import (
	"context"
	"errors"
	"testing"
	"time"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/storage/vfs"
)

// named publishes a persistent message with an id, which is its body too.
func (c *client) named(q, id string, change func(*Publish)) {
	c.t.Helper()
	props := message.Properties{Flags: message.HasDeliveryMode | message.HasMessageID, DeliveryMode: 2, MessageID: id}
	c.postProps("", q, id, props, change)
	c.settled(q)
}

// taking runs TakeByID in a goroutine of its own, and returns when it waits.
func (c *client) taking(ctx context.Context, q, id string) <-chan any {
	c.t.Helper()
	waiting := func() (n int) {
		c.pickyState(q, func(_ *shard, q *Queue) {
			for _, list := range q.takers {
				n += len(list)
			}
		})
		return n
	}
	before := waiting()
	done := make(chan any, 1)
	go func() {
		d, ok, err := c.TakeByID(ctx, q, id)
		switch {
		case err != nil:
			done <- err
		case !ok:
			done <- "none"
		default:
			done <- d
		}
	}()
	for waiting() == before && len(done) == 0 {
	}
	return done
}

func (c *client) wantTaken(got any, id string) Delivery {
	c.t.Helper()
	d, ok := got.(Delivery)
	if !ok || string(d.Env.Body()) != id {
		c.t.Fatalf("took %v, want %q", got, id)
	}
	return d
}

func TestFindAndTakeByID(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		clock := newClock(1_000_000)
		b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = clock.Now })
		c, other := newClient(t, b), newClient(t, b)
		c.queue("q", func(s *QueueSpec) { s.Policy.ConsumeAfter = indexed })
		c.queue("empty", func(s *QueueSpec) { s.Policy.ConsumeAfter = indexed })
		find := func(q, id, want string) {
			t.Helper()
			m, ok, err := c.Find(q, id)
			if err != nil || ok != (want != "") || ok && string(m.Env.Body())+" "+m.Status.String() != want {
				t.Fatalf("find %q: %v %v %v, want %q", id, m, ok, err, want)
			}
		}
		find("empty", "", "")
		find("empty", "a", "")
		for _, id := range []string{"a", "b", "c"} {
			c.named("q", id, nil)
		}
		c.named("q", "later", func(p *Publish) { p.NotBefore = clock.Now().Add(time.Hour).UnixMilli() })
		c.named("q", "short", func(p *Publish) { p.TTL = 10 })
		find("q", "", "a ready")
		find("q", "b", "b ready")
		find("q", "later", "later scheduled")
		find("q", "x", "")

		ctx := context.Background()
		d, ok, err := c.TakeByID(ctx, "q", "b")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		c.wantTaken(d, "b")
		find("q", "b", "b unacked")
		for _, id := range []string{"x", "later"} {
			if _, ok, err := c.TakeByID(ctx, "q", id); ok || err != nil {
				t.Fatalf("%q: %v %v", id, ok, err)
			}
		}
		clock.ms.Add(60_000)
		if _, ok, err := c.TakeByID(ctx, "q", "short"); ok || err != nil {
			t.Fatal("took what has expired", err)
		}

		// The first who waits gets what is returned, before a consumer; the next waits on and
		// learns of the end.
		first := other.taking(ctx, "q", "b")
		second := newClient(t, b).taking(ctx, "q", "b")
		k := c.consume("q", func(s *ConsumerSpec) { s.Prefetch = 10 })
		c.Requeue(d.Queue, nil, d.Handle, 1)
		c.Flush()
		d = c.wantTaken(<-first, "b")
		if !d.Redelivered || d.Count != 1 {
			t.Errorf("%+v", d)
		}
		again := newClient(t, b).taking(ctx, "q", "b")
		c.Release(d.Queue, d.Handle, 1)
		c.Flush()
		if got := <-second; got.(Delivery).Handle != d.Handle {
			t.Fatal(got)
		}
		second = again
		sameStrings(t, bodies(c.take(2)), "a", "c")
		other.Ack(d.Queue, nil, d.Handle, 1)
		other.Flush()
		if got := <-second; got != "none" {
			t.Fatal(got)
		}
		c.Cancel(k)

		// A reject ends it too, and so do the purge of what is ready, the end of ctx, of the
		// session, and of the queue.
		third := other.taking(ctx, "q", "a")
		a, _, _ := c.Find("q", "a")
		c.Reject(d.Queue, nil, a.Handle, 1)
		c.Flush()
		if got := <-third; got != "none" {
			t.Fatal(got)
		}
		short, cancel := context.WithCancel(ctx)
		fourth := other.taking(short, "q", "c")
		cancel()
		if got := <-fourth; !errors.Is(got.(error), context.Canceled) {
			t.Fatal(got)
		}
		fifth := other.taking(ctx, "q", "c")
		other.Close()
		if got := <-fifth; got != ErrClosed {
			t.Fatal(got)
		}
		if _, _, err := other.TakeByID(ctx, "q", "c"); err != ErrClosed {
			t.Fatal(err)
		}
		c.pickyState("q", func(_ *shard, q *Queue) {
			if q.takers != nil {
				t.Errorf("left behind: %v", q.takers)
			}
		})
		another := newClient(t, b)
		sixth := another.taking(ctx, "q", "c")
		if _, err := c.DeleteQueue("q", false, false); err != nil {
			t.Fatal(err)
		}
		if got := <-sixth; !errors.Is(got.(error), ErrQueueNotFound) {
			t.Fatal(got)
		}
		if _, _, err := c.Find("q", "c"); !errors.Is(err, ErrQueueNotFound) {
			t.Fatal(err)
		}
		mustClose(t, b)
	}
}

// A message whose time to wait begins with its return is not had, and one of a picky queue can be
// returned and had again.
func TestTakeByIDAndOtherPolicies(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c, other := newClient(t, b), newClient(t, b)
	c.queue("q", func(s *QueueSpec) { s.Policy.RetryType, s.Policy.RetryMin = RetryAll, 60_000 })
	c.named("q", "a", nil)
	ctx := context.Background()
	d, _, err := c.TakeByID(ctx, "q", "a")
	must(t, err)
	done := other.taking(ctx, "q", "a")
	c.Requeue(d.Queue, nil, d.Handle, 1)
	c.Flush()
	if got := <-done; got != "none" {
		t.Fatal(got)
	}
	c.queue("g", grouped)
	for _, id := range []string{"a", "b", "c"} {
		c.named("g", id, nil)
	}
	for range 3 {
		d, ok, err := c.TakeByID(ctx, "g", "b")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		c.Requeue(d.Queue, nil, d.Handle, 1)
		c.Flush()
	}
	if _, ok, err := c.TakeHandle(ctx, "g", queue.MakeHandle(0, 99)); ok || err != nil {
		t.Fatal(ok, err)
	}
	sameStrings(t, c.drain("g"), "a", "b", "c")
}

// The end of the broker ends the wait.
func TestTakeByIDAndClose(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c, other := newClient(t, b), newClient(t, b)
	c.queue("q", ordered)
	c.named("q", "a", nil)
	c.takeID("q", "a")
	done := other.taking(context.Background(), "q", "a")
	mustClose(t, b)
	if got := <-done; got != ErrClosed {
		t.Fatal(got)
	}
	if other.Alive("a") {
		t.Error("alive in a broker that is closed")
	}
}
