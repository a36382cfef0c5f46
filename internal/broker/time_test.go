package broker

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// inBubble runs a test on fake time with a broker and a client.
func inBubble(t *testing.T) (*Broker, *client) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	t.Cleanup(func() {
		c.Close()
		mustClose(t, b)
	})
	return b, c
}

func ttl(d time.Duration) func(*shard.Publish) {
	return func(p *shard.Publish) { p.TTL = d.Milliseconds() }
}

func TestExpiryBehindALongLivedHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		must(t, c.DeclareExchange(ExchangeSpec{Name: "dlx", Type: "fanout", Durable: true}))
		c.queue("dead", nil)
		must(t, c.Bind(BindSpec{Source: "dlx", Destination: "dead"}))
		c.queue("q", func(s *QueueSpec) { s.Policy.DeadLetter, s.Policy.DeadLetterExchange = true, "dlx" })
		c.put("", "q", "stays", nil)
		c.put("", "q", "5s", ttl(5*time.Second))
		c.put("", "q", "2s", ttl(2*time.Second))
		c.put("", "q", "an hour", ttl(time.Hour))
		time.Sleep(1999 * time.Millisecond)
		sameStrings(t, c.drain("dead"))
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		sameStrings(t, c.drain("dead"), "2s")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		d, _, _, _ := c.Get("dead", true)
		props, err := message.DecodeProperties(d.Env.Properties())
		must(t, err)
		deaths, _ := props.Headers.Get("x-death")
		death := deaths.(message.Array)[0].(message.Table)
		if reason, _ := death.Get("reason"); string(d.Env.Body()) != "5s" || reason != "expired" {
			t.Errorf("dead %q, x-death %v", d.Env.Body(), death)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		sameStrings(t, c.drain("dead"), "an hour")
		sameStrings(t, c.drain("q"), "stays")
	})
}

func TestNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		c.queue("q", nil)
		later := func(d time.Duration) func(*shard.Publish) {
			return func(p *shard.Publish) { p.NotBefore = time.Now().Add(d).UnixMilli() }
		}
		c.put("", "q", "in an hour", later(time.Hour))
		c.put("", "q", "in 3 s", later(3*time.Second))
		c.put("", "q", "now", nil)
		sameStrings(t, c.drain("q"), "now")
		c.consume("q", func(s *shard.ConsumerSpec) { s.NoAck = true })
		start := time.Now()
		sameStrings(t, bodies(c.take(1)), "in 3 s")
		if got := time.Since(start); got < 3*time.Second || got > 3*time.Second+10*time.Millisecond {
			t.Errorf("came after %v", got)
		}
		sameStrings(t, bodies(c.take(1)), "in an hour")
	})
}

// Get finds due messages, and none that were only for waiting consumers.
func TestGetIsNotEarly(t *testing.T) {
	for _, header := range []string{"", "group"} {
		synctest.Test(t, func(t *testing.T) {
			_, c := inBubble(t)
			c.queue("q", func(s *QueueSpec) { s.Policy.GroupHeader = header })
			const wait = 10
			due := time.Now().UnixMilli() + wait
			c.put("", "q", "m", func(p *shard.Publish) { p.NotBefore = due })
			for time.Now().UnixMilli() < due {
				sameStrings(t, c.drain("q"))
				time.Sleep(100 * time.Microsecond)
			}
			sameStrings(t, c.drain("q"), "m")
			c.put("", "q", "a TTL of 0 is for consumers that wait", ttl(0))
			sameStrings(t, c.drain("q"))
		})
	}
}

func TestUnusedQueueExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		c.queue("q", func(s *QueueSpec) { s.Policy.Expires = 1000 })
		k := c.consume("q", nil)
		time.Sleep(time.Minute)
		c.Cancel(k)
		time.Sleep(900 * time.Millisecond)
		if _, _, _, err := c.Get("q", true); err != nil {
			t.Fatalf("gone too early: %v", err)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if _, _, _, err := c.Get("q", true); !errors.Is(err, ErrQueueNotFound) {
			t.Fatalf("still there: %v", err)
		}
	})
}

func TestQueueTTLZeroDeliversOrExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		c.queue("q", func(s *QueueSpec) { s.Policy.MessageTTL = 0 })
		c.put("", "q", "lost", nil)
		time.Sleep(5 * time.Millisecond)
		synctest.Wait()
		k := c.consume("q", func(s *shard.ConsumerSpec) { s.NoAck = true })
		c.put("", "q", "caught", nil)
		sameStrings(t, bodies(c.take(1)), "caught")
		c.Cancel(k)
	})
}

// A full disk delays confirms while consumers continue. Once there is space again the confirms are
// sent.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewErrors(vfs.NewMem())
		b := openBroker(t, fs, nil)
		c := newClient(t, b)
		c.queue("q", nil)
		c.put("", "q", "before", nil)
		fs.SetFull(true)
		seq := c.post("", "q", "during", nil)
		c.Flush()
		time.Sleep(time.Second)
		synctest.Wait()
		if c.acks[seq]+c.nacks[seq] != 0 {
			t.Fatal("answered while the disk was full")
		}
		if a := b.Alarm(); a == nil || a.Reason != "low on disk" {
			t.Fatalf("alarm %+v", a)
		}
		sameStrings(t, c.drain("q"), "before", "during")
		fs.SetFull(false)
		c.until(func() bool { return c.acks[seq] == 1 })
		time.Sleep(time.Second)
		synctest.Wait()
		if a := b.Alarm(); a != nil {
			t.Fatalf("alarm stays: %v", a.Reason)
		}
		c.put("", "q", "after", nil)
		c.Close()
		mustClose(t, b)
	})
}

// After a failed fsync nothing more is confirmed. Consumers continue.
func TestFsyncFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewErrors(vfs.NewMem())
		b := openBroker(t, fs, nil)
		c := newClient(t, b)
		c.queue("q", nil)
		c.put("", "q", "before", nil)
		fs.FailSync(errors.New("input/output error"))
		seq := c.post("", "q", "lost", nil)
		c.Flush()
		c.until(func() bool { return c.nacks[seq] == 1 })
		fs.FailSync(nil)
		seq = c.post("", "q", "still refused", nil)
		c.Flush()
		c.until(func() bool { return c.nacks[seq] == 1 })
		d, _, ok, err := c.Get("q", false)
		if !ok || err != nil || string(d.Env.Body()) != "before" {
			t.Fatalf("get: %q %v %v", d.Env.Body(), ok, err)
		}
		tx := c.NewTx()
		tx.Ack(d.Queue, nil, d.Handle, 1)
		if err := tx.Commit(); !errors.Is(err, ErrLogFailed) {
			t.Errorf("commit: %v", err)
		}
		if _, err := c.DeclareQueue(QueueSpec{Name: "new", Durable: true, Policy: DefaultQueuePolicy()}); !errors.Is(err, ErrLogFailed) {
			t.Errorf("declare: %v", err)
		}
		c.Close()
		if b.Close() == nil {
			t.Error("a clean end was reported")
		}
	})
}

// A queue that is declared again while it is about to expire has been used: it stays for another
// period.
func TestDeclareAgainWhileTheQueueExpires(t *testing.T) {
	var now atomic.Int64
	now.Store(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = func() time.Time { return time.UnixMilli(now.Load()) } })
	c := newClient(t, b)
	declare := func() { c.queue("q", func(s *QueueSpec) { s.Policy.Expires = 1000 }) }
	declare()
	q, _ := c.vhost.Queue("q")
	must(t, q.Home().Call(func() {})) // its time has started
	b.journal.Lock()                  // so that its deletion cannot start
	now.Add(1000)
	must(t, q.Home().Call(func() {}))
	must(t, q.Home().Call(func() {
		if !shard.DebugOf(q.Home()).Expiring(q) {
			t.Error("the queue has not expired")
		}
	}))
	declare()
	b.journal.Unlock()
	b.expireQueue(q) // as its timer did
	if _, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); err != nil {
		t.Errorf("gone right after it was declared: %v", err)
	}
	now.Add(1000)
	b.expireQueue(q)
	if _, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); !errors.Is(err, ErrQueueNotFound) {
		t.Errorf("a period later: %v", err)
	}
	c.Close()
	mustClose(t, b)
}

// A queue does not expire while a call waits at it or a job of it is leased. Afterwards its time
// starts again.
func TestQueueInUseDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		expires := func(s *QueueSpec) { s.Policy.Expires = 1000 }
		c.queue("waited", expires)
		c.queue("leased", expires)
		have := func(name string, want bool) {
			t.Helper()
			synctest.Wait()
			if _, ok := c.vhost.Queue(name); ok != want {
				t.Errorf("%q is there: %v", name, ok)
			}
		}
		a := startAwait(t, b, &popping{OnQueue: on("waited"), Max: 1})
		c.put("", "leased", "", nil)
		leased, _ := c.vhost.Queue("leased")
		must(t, b.At(leased, func(at shard.Context) {
			at.Facts().Lease(at.Content(), at.Take(nil, false, false).Handle, at.OpenLedger().Next(), at.Now()+5000, true)
			at.Changed()
		}))
		time.Sleep(4 * time.Second)
		have("waited", true)
		have("leased", true)
		a.cancel()
		<-a.done
		time.Sleep(1500 * time.Millisecond) // the lease ended half a second ago
		have("waited", false)
		have("leased", true)
		time.Sleep(time.Second)
		have("leased", false)
		a.Close()
		c.Close()
		mustClose(t, b)
	})
}
