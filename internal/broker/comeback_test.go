package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A message is dead after the first return over the limit, however it is returned.
func TestDeliveryLimit(t *testing.T) {
	for _, shards := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = shards })
			c := newClient(t, b)
			c.queue("q", func(s *QueueSpec) { toQueue("dead")(s); s.Policy.DeliveryLimit = 2 })
			c.queue("dead", nil)
			c.put("", "q", "m", nil)
			for i := range 3 {
				d, _, ok, err := c.Get("q", false)
				if err != nil || !ok || d.Count != uint32(i) {
					t.Fatalf("%d: %v, %v, count %d", i, ok, err, d.Count)
				}
				if i == 1 {
					c.Return(d.Queue, nil, d.Handle, 1)
				} else {
					c.Requeue(d.Queue, nil, d.Handle, 1)
				}
				c.Flush()
			}
			synctest.Wait()
			if got := c.drain("q"); len(got) != 0 {
				t.Errorf("%q after the limit", got)
			}
			d, _, ok, err := c.Get("dead", true)
			if err != nil || !ok {
				t.Fatalf("not dead-lettered: %v", err)
			}
			_, _, raw, _ := d.Env.Split()
			props, err := message.DecodeProperties(raw)
			must(t, err)
			if reason, _ := props.Headers.Get("x-first-death-reason"); reason != "delivery_limit" {
				t.Errorf("reason %v", reason)
			}
			c.Close()
			mustClose(t, b)
		})
	}
}

// Messages returned together can have different outcomes, because each has its own count.
func TestReturnOfARange(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { s.Policy.DeliveryLimit = 1 })
	for i := range 5 {
		c.put("", "q", fmt.Sprint(i), nil)
	}
	get := func() (ds []shard.Delivery) {
		for {
			d, _, ok, err := c.Get("q", false)
			must(t, err)
			if !ok {
				return ds
			}
			ds = append(ds, d)
		}
	}
	ds := get()
	c.Requeue(ds[1].Queue, nil, ds[1].Handle, 1)
	c.Requeue(ds[3].Queue, nil, ds[3].Handle, 1)
	get()
	c.Requeue(ds[0].Queue, nil, ds[0].Handle, 5)
	sameStrings(t, c.drain("q"), "0", "2", "4")
	c.Close()
	mustClose(t, b)
}

// A returned message waits longer each time, even if the broker stops or crashes meanwhile.
func TestDelayedRetry(t *testing.T) {
	for name, restart := range map[string]int{"running": 0, "stopped": 1, "crashed": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem()
				b := openBroker(t, fs, nil)
				c := newClient(t, b)
				c.queue("q", func(s *QueueSpec) {
					s.Policy.RetryType, s.Policy.RetryMin, s.Policy.RetryMax = RetryAll, 60_000, 150_000
				})
				c.put("", "q", "m", nil)
				c.put("", "q", "other", nil)
				for i, wait := range []time.Duration{60, 120, 150} {
					d, _, ok, err := c.Get("q", false)
					if err != nil || !ok || string(d.Env.Body()) != "m" || d.Count != uint32(i) {
						t.Fatalf("%d: %v, %v, %+v", i, ok, err, d)
					}
					returned := time.Now()
					c.Requeue(d.Queue, nil, d.Handle, 1)
					c.Flush()
					b, c, fs = again(t, b, c, fs, restart)
					k := c.consume("q", nil)
					other := c.take(1)[0]
					if string(other.Env.Body()) != "other" {
						t.Fatalf("got %q while it waits", other.Env.Body())
					}
					d = c.take(1)[0]
					if waited := time.Since(returned); waited.Truncate(time.Millisecond) != wait*time.Second || string(d.Env.Body()) != "m" {
						t.Errorf("%q came after %v, want %v s", d.Env.Body(), waited, int(wait))
					}
					c.Cancel(k)
					c.Close() // returns no messages
					b, c, fs = again(t, b, newClient(t, b), fs, 2)
				}
				c.Close()
				mustClose(t, b)
			})
		})
	}
}

// again reopens the broker after a stop (1) or a crash (2), and checks that the state is the same.
func again(t *testing.T, b *Broker, c *client, fs *vfs.Mem, how int) (*Broker, *client, *vfs.Mem) {
	t.Helper()
	if how == 0 {
		return b, c, fs
	}
	want, err := b.Hash() // this calls each shard: by the next call all earlier entries are in the log
	must(t, err)
	syncAll(t, b)
	if how == 1 {
		c.Close()
	}
	after := fs
	if how == 2 {
		after = fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
	}
	mustClose(t, b)
	b = openBroker(t, after, nil)
	if got, err := b.Hash(); err != nil || got != want {
		t.Fatalf("hash %x after a restart, want %x, %v", got, want, err)
	}
	return b, newClient(t, b), after
}

// A message whose delay is over counts towards the length limit at once.
func TestRetryIntoAFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		c.queue("q", func(s *QueueSpec) {
			s.Policy.RetryType, s.Policy.RetryMin, s.Policy.MaxLength = RetryAll, 1000, 1
		})
		c.put("", "q", "1", nil)
		d, _, _, err := c.Get("q", false)
		must(t, err)
		c.Requeue(d.Queue, nil, d.Handle, 1)
		c.put("", "q", "2", nil)
		wantCounts(t, c, "q", 1, 0)
		time.Sleep(1100 * time.Millisecond)
		wantCounts(t, c, "q", 1, 0)
		sameStrings(t, c.drain("q"), "2")
		c.Close()
		mustClose(t, b)
	})
}
