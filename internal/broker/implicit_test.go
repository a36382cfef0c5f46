package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func hours(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }

// untilRemoved returns once the listed queues are removed.
func untilRemoved(b *Broker) {
	for {
		b.journal.Lock()
		b.removals.mu.Lock()
		n := len(b.removals.queues)
		b.removals.mu.Unlock()
		b.journal.Unlock()
		if n == 0 {
			return
		}
		runtime.Gosched()
	}
}

func (c *client) push(q string, bodies ...string) {
	c.t.Helper()
	p := &pushing{OnQueue: on(q), Bodies: values(bodies...), Create: true}
	c.do(p)
	if p.Err != nil {
		c.t.Fatal(p.Err)
	}
}

func (c *client) pop(q string) []string {
	c.t.Helper()
	p := &popping{OnQueue: on(q), Max: 10}
	c.do(p)
	if p.Err != nil && !errors.Is(p.Err, ErrQueueNotFound) {
		c.t.Fatal(p.Err)
	}
	return texts(p.Bodies)
}

// An implicit queue is removed when it has been empty and unused for an hour or two, but not while
// anything needs it.
func TestImplicitQueuesGo(t *testing.T) {
	for name, tc := range map[string]struct {
		use   func(c *client) // uses the queue "q"
		stays bool
	}{
		"emptied": {func(c *client) { c.push("q", "m"); c.pop("q") }, false},
		"full":    {func(c *client) { c.push("q", "m") }, true},
		"got, not acknowledged": {func(c *client) {
			c.push("q", "m")
			_, _, _, err := c.Get("q", false)
			must(c.t, err)
		}, true},
		"consumed": {func(c *client) { c.push("q", "m"); c.pop("q"); c.consume("q", nil) }, true},
		"consumed for a while": {func(c *client) {
			c.push("q", "m")
			k := c.consume("q", func(s *shard.ConsumerSpec) { s.NoAck = true })
			c.take(1)
			c.Cancel(k)
		}, false},
		"bound": {func(c *client) {
			c.push("q", "m")
			c.pop("q")
			must(c.t, c.Bind(BindSpec{Source: "amq.topic", Destination: "q", Key: "a"}))
		}, true},
		"a stream": {func(c *client) { c.do(newAdd("q", 1, "m")) }, true},
		"declared": {func(c *client) { c.push("q", "m"); c.pop("q"); c.queue("q", nil) }, true},
		"defined": {func(c *client) {
			c.push("q", "m")
			c.pop("q")
			var d Definitions
			d.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: DefaultQueuePolicy()})
			must(c.t, c.Define(&d))
		}, true},
		"declared before": {func(c *client) { c.queue("q", nil); c.push("q", "m"); c.pop("q") }, true},
		"asked whether it is there": {func(c *client) {
			c.push("q", "m")
			c.pop("q")
			_, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true})
			must(c.t, err)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem()
				b := openBroker(t, fs, nil)
				c := newClient(t, b)
				tc.use(c)
				time.Sleep(hours(0.9))
				synctest.Wait()
				if !c.HasQueue("q") {
					t.Fatal("it has gone too soon")
				}
				time.Sleep(hours(2.5))
				synctest.Wait()
				if c.HasQueue("q") != tc.stays {
					t.Fatalf("it is there: %v", !tc.stays)
				}
				c.Close()
				hash, err := b.Hash()
				must(t, err)
				crashed := fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
				mustClose(t, b)
				for _, fs := range []*vfs.Mem{fs, crashed} {
					again := openBroker(t, fs, nil)
					if h, err := again.Hash(); err != nil || h != hash {
						t.Fatalf("after a start: hash %x, was %x, %v", h, hash, err)
					}
					c := newClient(t, again)
					if c.HasQueue("q") != tc.stays {
						t.Fatal("after a start it is otherwise")
					}
					c.Close()
					mustClose(t, again)
				}
			})
		})
	}
}

// An implicit queue is still implicit after a restart, and one that was declared later is not.
func TestImplicitAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		b := openBroker(t, fs, nil)
		c := newClient(t, b)
		for _, q := range []string{"made", "wanted"} {
			c.push(q, "m")
			c.pop(q)
		}
		c.queue("wanted", nil)
		for range 3 { // the last start uses a checkpoint of the one before
			c.Close()
			mustClose(t, b)
			b = openBroker(t, fs, nil)
			c = newClient(t, b)
			if !c.HasQueue("made") {
				t.Fatal("it has gone too soon")
			}
		}
		time.Sleep(hours(2.5))
		synctest.Wait()
		if c.HasQueue("made") || !c.HasQueue("wanted") {
			t.Fatalf("made %v, wanted %v", c.HasQueue("made"), c.HasQueue("wanted"))
		}
		c.Close()
		mustClose(t, b)
	})
}

// Queues in use are not created and removed all the time, however little they hold.
func TestImplicitInUseStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		c.push("q", "m")
		was, _ := c.vhost.Queue("q")
		for range 20 {
			time.Sleep(50 * time.Minute)
			synctest.Wait()
			sameStrings(t, c.pop("q"), "m")
			c.push("q", "m")
		}
		c.pop("q")
		a := startAwait(t, b, &popping{OnQueue: on("q"), Max: 1, Create: true})
		defer a.Close()
		time.Sleep(hours(10))
		synctest.Wait()
		if now, _ := c.vhost.Queue("q"); now != was {
			t.Fatal("it is another queue")
		}
		a.cancel()
		<-a.done
		time.Sleep(hours(2.5))
		synctest.Wait()
		if c.HasQueue("q") {
			t.Fatal("it is there though nobody waits any more")
		}
	})
}

// While there are very many, idle ones are removed after seconds.
func TestManyImplicitQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer mustClose(t, b)
		for _, sh := range b.set.All {
			must(t, sh.Call(func() { shard.DebugOf(sh).KeepFew(20) }))
		}
		c := newClient(t, b)
		defer c.Close()
		for i := range 200 {
			q := fmt.Sprint("q", i)
			c.push(q, "m")
			if i%20 > 0 {
				c.pop(q)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := b.set.Catalog.QueueCount(); n != 40 {
			t.Fatalf("%d queues", n)
		}
		for i := range 10 {
			sameStrings(t, c.pop(fmt.Sprint("q", i*20)), "m")
		}
		time.Sleep(hours(2.5))
		synctest.Wait()
		if n := b.set.Catalog.QueueCount(); n != 0 {
			t.Fatalf("in the end %d queues", n)
		}
	})
}

// A queue that is cleared by name is removed at once, unless something needs it.
func TestClearedImplicitQueuesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		a := startAwait(t, b, &popping{OnQueue: on("waited"), Max: 1, Create: true})
		defer a.Close()
		defer a.cancel()
		synctest.Wait()
		c.queue("declared", nil)
		names := []string{"list", "declared", "waited", "watched", "stream", "again"}
		for _, q := range names[:2] {
			c.push(q, "m")
		}
		c.do(&pushing{OnQueue: on("watched"), Bodies: values("m"), Create: true},
			&Look{OnQueue: on("watched")}, newAdd("stream", 1, "m"))
		for _, q := range names {
			must(t, c.Do(&Clear{OnQueue: on(q)}))
		}
		must(t, c.DoAll(&pushing{OnQueue: on("again"), Bodies: values("a"), Create: true}, &Clear{OnQueue: on("again")},
			&pushing{OnQueue: on("again"), Bodies: values("b"), Create: true}))
		synctest.Wait()
		var left []string
		for _, q := range names {
			if c.HasQueue(q) {
				left = append(left, q)
			}
		}
		slices.Sort(left)
		sameStrings(t, left, "again", "declared", "waited", "watched")
		sameStrings(t, c.pop("again"), "b")
	})
}

// A message routed to a queue before the queue was removed reaches the next one with its name, and
// is confirmed once it is there.
func TestLatePublishFindsTheNextQueue(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.push("q", "m")
	seq := c.post("", "q", "late", nil) // not handed over yet
	other := newClient(t, b)
	defer other.Close()
	other.do(&Clear{OnQueue: on("q")})
	untilRemoved(b)
	c.Flush()
	c.until(func() bool { return c.acks[seq] == 1 })
	sameStrings(t, other.pop("q"), "late")
}

// Implicit queues count towards the limit of a virtual host, and a command beyond the limit gets an
// error.
func TestImplicitQueuesCount(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	must(t, b.SetVHostLimit("/", LimitQueues, 2))
	c := newClient(t, b)
	defer c.Close()
	c.push("a", "m")
	c.push("b", "m")
	for _, cmd := range []Command{
		&pushing{OnQueue: on("c"), Bodies: values("m"), Create: true}, &popping{OnQueue: on("c"), Create: true}, newAdd("c", 1, "m"),
	} {
		must(t, c.Do(cmd))
		if err := cmd.on().Err; !errors.Is(err, ErrQueueLimit) {
			t.Fatalf("%T: %v", cmd, err)
		}
	}
	c.do(&Clear{OnQueue: on("a")})
	untilRemoved(b)
	c.push("c", "m")
}
