package schedule

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// delayed makes the properties of a persistent message with an id, "" none, and a delay in ms.
func delayed(id string, ms int64) message.Properties {
	p := message.Properties{
		Flags: message.HasHeaders | message.HasDeliveryMode, DeliveryMode: 2, Headers: message.Table{{Name: "x-delay", Value: ms}},
	}
	if id != "" {
		p.Flags, p.MessageID = p.Flags|message.HasMessageID, id
	}
	return p
}

// delays declares the exchange later, which delays messages, and the queue q behind it.
func delays(c *enginetest.Client) {
	c.T.Helper()
	enginetest.Must(c.T, c.DeclareExchange(catalog.ExchangeSpec{
		Name: "later", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}},
	}))
	c.Queue("q", nil)
	enginetest.Must(c.T, c.Bind(catalog.BindSpec{Source: "later", Destination: "q"}))
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// waiting lists the ids of the messages of a schedule.
func waiting(t *testing.T, sc *Schedule) (ids []string) {
	t.Helper()
	for from := queue.Handle(0); ; {
		page, next, err := sc.List(from, 100)
		enginetest.Must(t, err)
		if len(page) > 100 {
			t.Errorf("a page has %d messages", len(page))
		}
		for _, m := range page {
			ids = append(ids, m.MessageID)
		}
		if next == 0 {
			return ids
		}
		from = next
	}
}

func TestListCancelReschedule(t *testing.T) {
	for _, memory := range []int64{0, 1 << 20} { // with little of it, bodies are read back
		synctest.Test(t, func(t *testing.T) {
			fs := vfs.NewMem()
			options := func(o *broker.Options) { o.Shards, o.MemoryLimit = 3, memory }
			b := enginetest.Open(t, fs, options)
			c := enginetest.NewClient(t, b)
			delays(c)
			const n = 1000
			var want []string
			for i := range n {
				id := fmt.Sprint("id", i)
				if i%400 == 7 {
					id = "thrice"
				}
				want = append(want, id)
				c.Send("later", "some.key", "body", delayed(id, 3_600_000+int64(i)), nil)
			}
			sc, err := OfExchange(c.Session, "later")
			enginetest.Must(t, err)
			same(t, waiting(t, sc), want...)
			page, _, err := sc.List(0, 1)
			enginetest.Must(t, err)
			first := page[0]
			if first.Due != time.Now().UnixMilli()+3_600_001 || first.Size != 4 || first.Exchange != "later" || first.Key != "some.key" {
				t.Errorf("the first is %+v", first)
			}
			for _, step := range []struct {
				id   string
				want int
			}{{"thrice", 3}, {"thrice", 0}, {"nobody", 0}, {"", 0}} {
				if got, err := sc.Cancel(step.id); err != nil || got != step.want {
					t.Errorf("cancelled %d of %q: %v", got, step.id, err)
				}
			}
			if got, err := sc.Reschedule("id5", time.Now().UnixMilli()+5000); err != nil || got != 1 {
				t.Errorf("rescheduled %d: %v", got, err)
			}
			if got, err := sc.Reschedule("id6", 0); err != nil || got != 1 {
				t.Errorf("rescheduled %d: %v", got, err)
			}
			if got, err := sc.Reschedule("id7", time.Now().UnixMilli()+7_200_000); err != nil || got != 0 {
				t.Errorf("rescheduled %d: %v", got, err) // 7 is one of thrice
			}
			if got, err := sc.Reschedule("id8", time.Now().UnixMilli()+7_200_000); err != nil || got != 1 {
				t.Errorf("rescheduled %d: %v", got, err)
			}
			synctest.Wait()
			d, _, ok, _ := c.Get("q", true)
			if peek, _ := message.PeekProperties(d.Env.Properties()); !ok || string(peek.MessageID) != "id6" {
				t.Errorf("made due: %v %s", ok, peek.MessageID)
			}
			clone := enginetest.Crashed(fs)
			c.Close()
			enginetest.Close(t, b)

			b = enginetest.Open(t, clone, options)
			defer enginetest.Close(t, b)
			c = enginetest.NewClient(t, b)
			defer c.Close()
			time.Sleep(4800 * time.Millisecond)
			synctest.Wait()
			for { // id6 may come again, even twice: neither its way to the queue nor its delivery had its end on disk
				d, _, ok, err := c.Get("q", true)
				enginetest.Must(t, err)
				if !ok {
					break
				}
				if peek, _ := message.PeekProperties(d.Env.Properties()); string(peek.MessageID) != "id6" {
					t.Errorf("%s came early", peek.MessageID)
				}
			}
			time.Sleep(202 * time.Millisecond)
			synctest.Wait()
			if got := c.Drain("q"); len(got) != 1 {
				t.Errorf("got %d messages at the new time", len(got))
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := len(c.Drain("q")); got != n-3-3 {
				t.Errorf("%d messages came after an hour", got)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := len(c.Drain("q")); got != 1 {
				t.Errorf("%d messages came after two hours", got)
			}
		})
	}
}

// One message is named by its place: others of its id, or without one, stay.
func TestScheduleByPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		b := enginetest.Open(t, fs, nil)
		c := enginetest.NewClient(t, b)
		delays(c)
		for i := range 600 {
			c.Send("later", "", fmt.Sprint("body ", i), delayed("", 3_600_000), nil)
		}
		sc, err := OfExchange(c.Session, "later")
		enginetest.Must(t, err)
		page, _, err := sc.List(0, 600)
		enginetest.Must(t, err)
		enginetest.Must(t, eq(1)(sc.CancelAt(page[1].Handle)))
		enginetest.Must(t, eq(1)(sc.CancelAt(page[599].Handle)))
		enginetest.Must(t, eq(0)(sc.CancelAt(page[1].Handle)))
		enginetest.Must(t, eq(0)(sc.RescheduleAt(page[599].Handle, 0)))
		enginetest.Must(t, eq(0)(sc.CancelAt(page[599].Handle+1)))
		enginetest.Must(t, eq(1)(sc.RescheduleAt(page[2].Handle, time.Now().UnixMilli()+7_200_000)))
		clone := enginetest.Crashed(fs)
		c.Close()
		enginetest.Close(t, b)

		b = enginetest.Open(t, clone, nil)
		defer enginetest.Close(t, b)
		c = enginetest.NewClient(t, b)
		defer c.Close()
		sc, err = OfExchange(c.Session, "later")
		enginetest.Must(t, err)
		if n, err := sc.Len(); n != 598 || err != nil {
			t.Errorf("%d wait after a crash: %v", n, err)
		}
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		got := c.Drain("q")
		if len(got) != 597 || got[0] != "body 0" || got[1] != "body 3" {
			t.Errorf("%d messages came after an hour", len(got))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := c.Drain("q"); len(got) != 1 || got[0] != "body 2" {
			t.Errorf("%d messages came after two hours", len(got))
		}
		none, err := OfExchange(c.Session, "amq.fanout")
		enginetest.Must(t, err)
		enginetest.Must(t, eq(0)(none.CancelAt(page[0].Handle)))
	})
}

// eq checks how many messages a change was about.
func eq(want int) func(n int, err error) error {
	return func(n int, err error) error {
		if err == nil && n != want {
			err = fmt.Errorf("%d messages were changed, want %d", n, want)
		}
		return err
	}
}

func TestScheduleOfAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.Open(t, vfs.NewMem(), nil)
		defer enginetest.Close(t, b)
		c := enginetest.NewClient(t, b)
		defer c.Close()
		c.Queue("q", nil)
		c.Send("", "q", "later", delayed("x", 0), func(p *shard.Publish) { p.NotBefore, p.TTL = time.Now().UnixMilli()+1000, 500 })
		c.Put("q", "now", nil)
		sc, err := OfQueue(c.Session, "q")
		enginetest.Must(t, err)
		same(t, waiting(t, sc), "x")
		if n, err := sc.Reschedule("x", time.Now().UnixMilli()+3000); n != 1 || err != nil {
			t.Fatalf("rescheduled %d: %v", n, err)
		}
		if n, err := sc.Len(); n != 1 || err != nil {
			t.Fatalf("%d wait: %v", n, err)
		}
		time.Sleep(3400 * time.Millisecond) // its life begins when it is due
		synctest.Wait()
		same(t, c.Drain("q"), "later", "now")
		if _, err := OfQueue(c.Session, "none"); !errors.Is(err, failure.ErrQueueNotFound) {
			t.Error(err)
		}
		if _, err := OfExchange(c.Session, "none"); !errors.Is(err, failure.ErrExchangeNotFound) {
			t.Error(err)
		}
		sc, err = OfExchange(c.Session, "amq.direct")
		enginetest.Must(t, err)
		same(t, waiting(t, sc))
		if n, err := sc.Cancel("x"); n != 0 || err != nil {
			t.Errorf("cancelled %d: %v", n, err)
		}
	})
}
