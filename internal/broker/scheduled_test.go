package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/storage/vfs"
)

// named makes the properties of a delayed message with an id.
func named(id string, ms int64) message.Properties {
	p := delayOf64(ms)
	p.Flags |= message.HasMessageID
	p.MessageID = id
	return p
}

func (c *client) waiting(sc *Schedule) (ids []string) {
	c.t.Helper()
	for from := queue.Handle(0); ; {
		page, next, err := sc.List(from, 100)
		must(c.t, err)
		if len(page) > 100 {
			c.t.Errorf("a page has %d messages", len(page))
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
			options := func(o *Options) { o.Shards, o.MemoryLimit = 3, memory }
			b := openBroker(t, fs, options)
			c := newClient(t, b)
			c.delayed("later", "fanout", nil)
			c.queue("q", nil)
			c.bind("later", "q", "")
			const n = 1000
			var want []string
			for i := range n {
				id := fmt.Sprint("id", i)
				if i%400 == 7 {
					id = "thrice"
				}
				want = append(want, id)
				c.send("later", "some.key", "body", named(id, 3_600_000+int64(i)))
			}
			sc, err := c.ExchangeSchedule("later")
			must(t, err)
			sameStrings(t, c.waiting(sc), want...)
			page, _, err := sc.List(0, 1)
			must(t, err)
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
			clone := fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
			c.Close()
			mustClose(t, b)

			b = openBroker(t, clone, options)
			defer mustClose(t, b)
			c = newClient(t, b)
			defer c.Close()
			time.Sleep(4800 * time.Millisecond)
			synctest.Wait()
			for { // id6 may come again, even twice: neither its way to the queue nor its delivery had its end on disk
				d, _, ok, err := c.Get("q", true)
				must(t, err)
				if !ok {
					break
				}
				if peek, _ := message.PeekProperties(d.Env.Properties()); string(peek.MessageID) != "id6" {
					t.Errorf("%s came early", peek.MessageID)
				}
			}
			time.Sleep(202 * time.Millisecond)
			synctest.Wait()
			if got := c.drain("q"); len(got) != 1 {
				t.Errorf("got %d messages at the new time", len(got))
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := len(c.drain("q")); got != n-3-3 {
				t.Errorf("%d messages came after an hour", got)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := len(c.drain("q")); got != 1 {
				t.Errorf("%d messages came after two hours", got)
			}
		})
	}
}

// One message is named by its place: others of its id, or without one, stay.
func TestScheduleByPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		b := openBroker(t, fs, nil)
		c := newClient(t, b)
		c.delayed("later", "fanout", nil)
		c.queue("q", nil)
		c.bind("later", "q", "")
		for i := range 600 {
			c.send("later", "", fmt.Sprint("body ", i), delayOf64(3_600_000))
		}
		sc, err := c.ExchangeSchedule("later")
		must(t, err)
		page, _, err := sc.List(0, 600)
		must(t, err)
		must(t, eq(1)(sc.CancelAt(page[1].Handle)))
		must(t, eq(1)(sc.CancelAt(page[599].Handle)))
		must(t, eq(0)(sc.CancelAt(page[1].Handle)))
		must(t, eq(0)(sc.RescheduleAt(page[599].Handle, 0)))
		must(t, eq(0)(sc.CancelAt(page[599].Handle+1)))
		must(t, eq(1)(sc.RescheduleAt(page[2].Handle, time.Now().UnixMilli()+7_200_000)))
		clone := fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
		c.Close()
		mustClose(t, b)

		b = openBroker(t, clone, nil)
		defer mustClose(t, b)
		c = newClient(t, b)
		defer c.Close()
		sc, err = c.ExchangeSchedule("later")
		must(t, err)
		if n, err := sc.Len(); n != 598 || err != nil {
			t.Errorf("%d wait after a crash: %v", n, err)
		}
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		got := c.drain("q")
		if len(got) != 597 || got[0] != "body 0" || got[1] != "body 3" {
			t.Errorf("%d messages came after an hour", len(got))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := c.drain("q"); len(got) != 1 || got[0] != "body 2" {
			t.Errorf("%d messages came after two hours", len(got))
		}
		none, err := c.ExchangeSchedule("amq.fanout")
		must(t, err)
		must(t, eq(0)(none.CancelAt(page[0].Handle)))
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
		_, c := inBubble(t)
		c.queue("q", nil)
		p := named("x", 0)
		parts := c.postProps("", "q", "later", p, func(p *Publish) { p.NotBefore, p.TTL = time.Now().UnixMilli()+1000, 500 })
		c.Flush()
		c.until(func() bool { return c.acks[parts] == 1 })
		c.put("", "q", "now", nil)
		sc, err := c.QueueSchedule("q")
		must(t, err)
		sameStrings(t, c.waiting(sc), "x")
		if n, err := sc.Reschedule("x", time.Now().UnixMilli()+3000); n != 1 || err != nil {
			t.Fatalf("rescheduled %d: %v", n, err)
		}
		if n, err := sc.Len(); n != 1 || err != nil {
			t.Fatalf("%d wait: %v", n, err)
		}
		time.Sleep(3400 * time.Millisecond) // its life begins when it is due
		synctest.Wait()
		sameStrings(t, c.drain("q"), "later", "now")
		if _, err := c.QueueSchedule("none"); !errors.Is(err, ErrQueueNotFound) {
			t.Error(err)
		}
		if _, err := c.ExchangeSchedule("none"); !errors.Is(err, ErrExchangeNotFound) {
			t.Error(err)
		}
		sc, err = c.ExchangeSchedule("amq.direct")
		must(t, err)
		sameStrings(t, c.waiting(sc))
		if n, err := sc.Cancel("x"); n != 0 || err != nil {
			t.Errorf("cancelled %d: %v", n, err)
		}
	})
}
