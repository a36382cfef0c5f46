package loans

import (
	"context"
	"errors"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// acquiring runs AcquireByID in a goroutine and returns once that waits.
func (c client) acquiring(ctx context.Context, q, id string, tx *Transaction) <-chan any {
	c.T.Helper()
	at := newClient(c.T.(*testing.T), c.B)
	before := at.waiting(q)
	done := make(chan any, 1)
	go func() {
		d, ok, err := AcquireByID(ctx, c.Session, q, id, tx)
		switch {
		case err != nil:
			done <- err
		case !ok:
			done <- "none"
		default:
			done <- d
		}
	}()
	for at.waiting(q) == before && len(done) == 0 {
	}
	return done
}

func (c client) wantLent(got any, id string) shard.Delivery {
	c.T.Helper()
	d, ok := got.(shard.Delivery)
	if !ok || string(d.Env.Body()) != id {
		c.T.Fatalf("lent %v, want %q", got, id)
	}
	return d
}

func TestFindAndAcquireByID(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		clock := enginetest.NewClock(1_000_000)
		b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.Now = clock.Now })
		c, other := newClient(t, b), newClient(t, b)
		c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.ConsumeAfter = indexed })
		c.Queue("empty", func(s *catalog.QueueSpec) { s.Policy.ConsumeAfter = indexed })
		find := func(q, id, want string) {
			t.Helper()
			m, ok, err := inspect.Find(c.Session, q, id)
			if err != nil || ok != (want != "") || ok && string(m.Env.Body())+" "+m.Status.String() != want {
				t.Fatalf("find %q: %v %v %v, want %q", id, m, ok, err, want)
			}
		}
		find("empty", "", "")
		find("empty", "a", "")
		for _, id := range []string{"a", "b", "c"} {
			c.named("q", id, nil)
		}
		c.named("q", "later", func(p *shard.Publish) { p.NotBefore = clock.Now().Add(time.Hour).UnixMilli() })
		c.named("q", "short", func(p *shard.Publish) { p.TTL = 10 })
		find("q", "", "a ready")
		find("q", "b", "b ready")
		find("q", "later", "later scheduled")
		find("q", "x", "")

		ctx := context.Background()
		d := c.acquires("q", "b")
		c.wantLent(d, "b")
		find("q", "b", "b unacked")
		if _, ok, err := AcquireByID(ctx, c.Session, "q", "x", nil); ok || err != nil {
			t.Fatalf("there is none: %v %v", ok, err)
		}
		c.release(c.acquires("q", "later"))
		find("q", "later", "later scheduled")
		clock.MS.Add(60_000)
		if _, ok, err := AcquireByID(ctx, c.Session, "q", "short", nil); ok || err != nil {
			t.Fatal("lent what has expired", err)
		}

		// The first request gets the returned message, before a consumer. The next one keeps
		// waiting and gets the end.
		first := other.acquiring(ctx, "q", "b", nil)
		second := newClient(t, b).acquiring(ctx, "q", "b", nil)
		k := c.Consumes("q", func(s *shard.ConsumerSpec) { s.Prefetch = 10 })
		c.requeue(d)
		d = c.wantLent(<-first, "b")
		if !d.Redelivered || d.Count != 1 {
			t.Errorf("%+v", d)
		}
		again := newClient(t, b).acquiring(ctx, "q", "b", nil)
		c.release(d)
		if got := <-second; got.(shard.Delivery).Handle != d.Handle {
			t.Fatal(got)
		}
		second = again
		same(t, bodies(c.Deliveries(2)), "a", "c")
		other.ack(d)
		if got := <-second; got != "none" {
			t.Fatal(got)
		}
		c.Cancel(k)

		// A reject ends the wait, too, and so do a purge of the ready messages and the end of ctx,
		// of the session, and of the queue.
		third := other.acquiring(ctx, "q", "a", nil)
		a, _, _ := inspect.Find(c.Session, "q", "a")
		c.Reject(d.Queue, nil, a.Handle, 1)
		c.Flush()
		if got := <-third; got != "none" {
			t.Fatal(got)
		}
		short, cancel := context.WithCancel(ctx)
		fourth := other.acquiring(short, "q", "c", nil)
		cancel()
		if got := <-fourth; !errors.Is(got.(error), context.Canceled) {
			t.Fatal(got)
		}
		fifth := other.acquiring(ctx, "q", "c", nil)
		other.Close()
		if got := <-fifth; got != failure.ErrClosed {
			t.Fatal(got)
		}
		if _, _, err := AcquireByID(ctx, other.Session, "q", "c", nil); err != failure.ErrClosed {
			t.Fatal(err)
		}
		c.At("q", func(at shard.Context) {
			if at.LoanWaiters() != nil {
				t.Errorf("left behind: %v", at.LoanWaiters())
			}
		})
		another := newClient(t, b)
		sixth := another.acquiring(ctx, "q", "c", nil)
		if _, err := c.DeleteQueue("q", false, false); err != nil {
			t.Fatal(err)
		}
		if got := <-sixth; !errors.Is(got.(error), failure.ErrQueueNotFound) {
			t.Fatal(got)
		}
		if _, _, err := inspect.Find(c.Session, "q", "c"); !errors.Is(err, failure.ErrQueueNotFound) {
			t.Fatal(err)
		}
		enginetest.Close(t, b)
	}
}

// A message whose delay starts with its return can still be acquired, and one of a queue with
// groups can be returned and acquired again.
func TestAcquireByIDAndOtherPolicies(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c, other := newClient(t, b), newClient(t, b)
	c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.RetryType, s.Policy.RetryMin = catalog.RetryAll, 60_000 })
	c.named("q", "a", nil)
	ctx := context.Background()
	d := c.acquires("q", "a")
	done := other.acquiring(ctx, "q", "a", nil)
	c.requeue(d)
	c.wantLent(<-done, "a")
	c.Queue("g", func(s *catalog.QueueSpec) { s.Policy.GroupHeader = "g" })
	for _, id := range []string{"a", "b", "c"} {
		c.named("g", id, nil)
	}
	for range 3 {
		c.requeue(c.acquires("g", "b"))
	}
	if _, ok, err := Acquire(ctx, c.Session, "g", queue.MakeHandle(0, 99), nil); ok || err != nil {
		t.Fatal(ok, err)
	}
	same(t, c.Drain("g"), "a", "b", "c")
}

// Closing the broker ends the wait.
func TestAcquireByIDAndClose(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	c, other := newClient(t, b), newClient(t, b)
	c.Queue("q", ordered)
	c.named("q", "a", nil)
	c.acquires("q", "a")
	done := other.acquiring(context.Background(), "q", "a", nil)
	enginetest.Close(t, b)
	if got := <-done; got != failure.ErrClosed {
		t.Fatal(got)
	}
	if other.Alive("a") {
		t.Error("alive in a broker that is closed")
	}
}

// after returns the header of a message that waits for others.
func after(ids string) message.Table {
	return message.Table{{Name: "consume_after", Value: ids}}
}

func TestAcquireWhatIsBlocked(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := newClient(t, b)
	c.Queue("q", ordered)
	c.Queue("r", ordered)
	c.named("q", "1", nil)
	c.withHeaders("r", "2", after("1"), nil)
	c.withHeaders("r", "3", after("{1,2}"), nil)
	c.named("r", "4", func(p *shard.Publish) { p.NotBefore = time.Now().Add(time.Hour).UnixMilli() })
	for _, id := range []string{"2", "4"} {
		c.release(c.acquires("r", id))
	}
	if got := c.Drain("r"); len(got) != 0 {
		t.Errorf("what was released could be got: %q", got)
	}
	held := func(ds ...shard.Delivery) func() []shard.Loan {
		return func() (all []shard.Loan) {
			for _, d := range ds {
				all = append(all, shard.Loan{Queue: d.Queue, Handle: d.Handle})
			}
			return all
		}
	}
	first, _, _, _ := c.Get("q", false)
	if got, err := AcquireUnblocked(c.Session, "r", 10, held()); len(got) != 0 || err != nil {
		t.Errorf("for nothing: %v, %v", got, err)
	}
	got, err := AcquireUnblocked(c.Session, "r", 10, held(first))
	enginetest.Must(t, err)
	same(t, bodies(got), "2")
	c.release(got[0])
	if again := c.Drain("r"); len(again) != 0 {
		t.Errorf("what was released could be got: %q", again)
	}
	got, err = AcquireUnblocked(c.Session, "r", 10, held(first))
	enginetest.Must(t, err)
	third, err := AcquireUnblocked(c.Session, "r", 10, held(first, got[0]))
	enginetest.Must(t, err)
	same(t, bodies(third), "3")
	tx := c.NewTx()
	for _, d := range []shard.Delivery{first, got[0], third[0]} {
		tx.Ack(d.Queue, nil, d.Handle, 1)
	}
	enginetest.Must(t, tx.Commit())
	st, err := inspect.Queue(c.Session, "r")
	enginetest.Must(t, err)
	if st.Ready+st.Unacked+st.Blocked != 0 || st.Scheduled != 1 {
		t.Errorf("left: %+v", st)
	}
}
