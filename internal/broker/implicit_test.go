package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways/internal/storage/vfs"
)

func hours(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }

// untilRemoved returns when the queues that were let go are removed.
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
	p := &Push{OnQueue: on(q), Bodies: values(bodies...), Create: true}
	c.do(p)
	if p.Err != nil {
		c.t.Fatal(p.Err)
	}
}

func (c *client) pop(q string) []string {
	c.t.Helper()
	p := &Pop{OnQueue: on(q), Max: 10}
	c.do(p)
	if p.Err != nil && !errors.Is(p.Err, ErrQueueNotFound) {
		c.t.Fatal(p.Err)
	}
	return texts(p.Bodies)
}

// A queue that a command made goes when it has been empty and unused for an hour or two, and not
// while anything needs it.
func TestImplicitQueuesGo(t *testing.T) {
	for name, tc := range map[string]struct {
		use   func(c *client) // of the queue "q"
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
			k := c.consume("q", func(s *ConsumerSpec) { s.NoAck = true })
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

// What is implicit is so after a restart, and what was declared later is not.
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
		for range 3 { // the last start is from a checkpoint of the one before
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

// Queues that are used, however little is in them, are not made and removed all the time.
func TestImplicitInUseStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		c.push("q", "m")
		was, _ := c.vhost.queue("q")
		for range 20 {
			time.Sleep(50 * time.Minute)
			synctest.Wait()
			sameStrings(t, c.pop("q"), "m")
			c.push("q", "m")
		}
		c.pop("q")
		a := startAwait(t, b, &Pop{OnQueue: on("q"), Max: 1, Create: true})
		defer a.Close()
		time.Sleep(hours(10))
		synctest.Wait()
		if now, _ := c.vhost.queue("q"); now != was {
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

// While there are very many, those that are idle go after seconds.
func TestManyImplicitQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer mustClose(t, b)
		for _, sh := range b.shards {
			must(t, sh.call(func() { sh.implicits.few = 20 }))
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
		if n := b.catalog.QueueCount(); n != 40 {
			t.Fatalf("%d queues", n)
		}
		for i := range 10 {
			sameStrings(t, c.pop(fmt.Sprint("q", i*20)), "m")
		}
		time.Sleep(hours(2.5))
		synctest.Wait()
		if n := b.catalog.QueueCount(); n != 0 {
			t.Fatalf("in the end %d queues", n)
		}
	})
}

// A queue that is cleared by name goes at once, unless somebody needs it.
func TestClearedImplicitQueuesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		a := startAwait(t, b, &Pop{OnQueue: on("waited"), Max: 1, Create: true})
		defer a.Close()
		defer a.cancel()
		synctest.Wait()
		c.queue("declared", nil)
		names := []string{"list", "declared", "waited", "watched", "stream", "again"}
		for _, q := range names[:2] {
			c.push(q, "m")
		}
		c.do(&Push{OnQueue: on("watched"), Bodies: values("m"), Create: true},
			&Look{OnQueue: on("watched")}, newAdd("stream", 1, "m"))
		for _, q := range names {
			must(t, c.Do(&Clear{OnQueue: on(q)}))
		}
		must(t, c.DoAll(&Push{OnQueue: on("again"), Bodies: values("a"), Create: true}, &Clear{OnQueue: on("again")},
			&Push{OnQueue: on("again"), Bodies: values("b"), Create: true}))
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

// Messages are not lost that come to a queue while it is removed, by whatever way, and each comes
// once.
func TestPushWhileRemoved(t *testing.T) {
	const senders, each = 4, 300
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	got := make(chan string, senders*each)
	ctx, cancel := context.WithCancel(context.Background())
	var wg, sending sync.WaitGroup
	for range 2 {
		w := newClient(t, b)
		wg.Go(func() {
			for ctx.Err() == nil {
				p := &Pop{OnQueue: on("q"), Max: 3, Create: true}
				if err := w.Do(p); err != nil || p.Err != nil {
					t.Error(err, p.Err)
					return
				}
				for _, body := range p.Bodies {
					got <- string(body)
				}
				for _, sh := range b.shards { // all idle ones go
					_ = sh.call(func() {
						for q := sh.implicits.first; q != nil; {
							next := q.seen.next
							if q.idle(sh.now) {
								sh.letGo(q)
							}
							q = next
						}
					})
				}
			}
		})
	}
	for i := range senders {
		s := newClient(t, b)
		sending.Go(func() {
			for n := range each {
				body := fmt.Sprint(i, " ", n)
				p := &Push{OnQueue: on("q"), Bodies: values(body), Create: true}
				var err error
				switch i {
				case 0:
					err = s.Do(p)
				case 1:
					err = s.DoAll(p, &Count{OnQueue: on("q")})
				case 2:
					err = s.Do(&Push{OnQueue: on("from"), Bodies: values(body), Create: true})
					at := -1
					if err == nil {
						at, err = s.Await(ctx, &Move{OnQueue: on("from"), To: "q", Create: true, CreateTo: true})
					}
					if at != 0 && err == nil {
						err = errors.New("nothing was moved")
					}
				case 3: // as other protocols do, who are told when there is no such queue
					for !s.HasQueue("q") || !s.postIf("q", body) {
						if err := s.Do(&Count{OnQueue: on("q")}); err != nil {
							t.Error(err)
							return
						}
					}
				}
				if err != nil || p.Err != nil {
					t.Error(err, p.Err)
					return
				}
			}
		})
	}
	seen := map[string]bool{}
	made := func() uint64 { return b.Stats().QueuesCreated }
	c := newClient(t, b)
	for more := 0; (len(seen) < senders*each+more || made() < 20) && !t.Failed(); {
		if len(seen) == senders*each+more { // too few queues were removed meanwhile
			c.push("q", fmt.Sprint("more ", more))
			more++
		}
		body := <-got
		if seen[body] {
			t.Fatalf("%q came twice", body)
		}
		seen[body] = true
	}
	cancel()
	sending.Wait()
	wg.Wait()
}

// postIf publishes to a queue and waits for the confirm; false when there is no such queue.
func (c *client) postIf(q, body string) bool {
	routed := false
	seq := c.post("", q, body, func(p *Publish) { routed = !p.Targets.Empty() })
	c.Flush()
	c.until(func() bool { return c.acks[seq]+c.nacks[seq] == 1 })
	if c.nacks[seq] > 0 {
		c.t.Error("a message was refused")
	}
	return routed
}

// A message that was routed to a queue before that was removed comes to the next one of its name,
// and is confirmed when it is there.
func TestLatePublishFindsTheNextQueue(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.push("q", "m")
	seq := c.post("", "q", "late", nil) // is not handed over yet
	other := newClient(t, b)
	defer other.Close()
	other.do(&Clear{OnQueue: on("q")})
	untilRemoved(b)
	c.Flush()
	c.until(func() bool { return c.acks[seq] == 1 })
	sameStrings(t, other.pop("q"), "late")
}

// The limit of a virtual host counts implicit queues, and what makes one more is told.
func TestImplicitQueuesCount(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	must(t, b.SetVHostLimit("/", LimitQueues, 2))
	c := newClient(t, b)
	defer c.Close()
	c.push("a", "m")
	c.push("b", "m")
	for _, cmd := range []Command{
		&Push{OnQueue: on("c"), Bodies: values("m"), Create: true}, &Pop{OnQueue: on("c"), Create: true}, newAdd("c", 1, "m"),
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
