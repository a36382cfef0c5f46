package broker

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// toQueue makes a queue dead-letter to another one.
func toQueue(name string) func(*QueueSpec) {
	return func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, name
	}
}

// Close waits a bounded time for messages in transit, and then stops the shards one after the
// other. A dead letter that no longer arrives, or whose arrival is no longer reported, is still in
// its source.
func TestCloseWithADeadLetterOnItsWay(t *testing.T) {
	for name, k := range map[string]struct {
		queues []string // the second is on the shard that stops first
		want   []string // source and dead-letter queue after the restart
	}{
		"target stops first": {[]string{"src", "dead"}, []string{"src"}},
		"source stops first": {[]string{"dead", "src"}, []string{"src", "dead"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem()
				b := openBroker(t, fs, nil)
				c := newClient(t, b)
				for _, q := range k.queues {
					c.queue(q, toQueue("dead"))
				}
				first, late := b.set.All[0], b.set.All[1]
				if q, _ := c.vhost.Queue(k.queues[1]); q.Home() != first {
					t.Fatalf("%s is on the wrong shard", k.queues[1])
				}
				c.put("", "src", "precious", nil)
				d, _, ok, err := c.Get("src", false)
				if err != nil || !ok {
					t.Fatalf("get: %v, %v", ok, err)
				}
				late.Post(func() { <-first.Done })
				c.Reject(d.Queue, nil, d.Handle, 1)
				c.Flush()
				must(t, b.Close()) // one shard is stalled: the state cannot be compared

				b = openBroker(t, fs, nil)
				c = newClient(t, b)
				for _, q := range []string{"src", "dead"} {
					var want []string
					for _, w := range k.want {
						if w == q {
							want = []string{"precious"}
						}
					}
					sameStrings(t, c.drain(q), want...)
				}
				c.Close()
				mustClose(t, b)
			})
		})
	}
}

// entryLengths returns the bytes of facts in each entry of a shard's log. The broker must be
// closed.
func entryLengths(t *testing.T, fs vfs.FS, shard uint32) map[uint64]int {
	t.Helper()
	st, err := store.Open(fs, "data", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[uint64]int{}
	must(t, st.Replay(shard, 0, func(index uint64, _ uint32, fact []byte) error {
		lengths[index] += len(fact)
		return nil
	}))
	must(t, st.Close())
	return lengths
}

// However many messages die at once, they are recorded in entries of about EntryBytes.
func TestDeadLettersInEntriesOfBoundedSize(t *testing.T) {
	const count, size = 100, 64 << 10
	body := strings.Repeat("x", size)
	for name, reject := range map[string]func(*client){
		"expired": nil,
		"rejected": func(c *client) {
			c.consume("src", nil)
			ds := c.take(count)
			c.Reject(ds[0].Queue, ds[0].Consumer, ds[0].Handle, count)
			c.Flush()
		},
		"rejected one by one": func(c *client) {
			c.consume("src", nil)
			for _, d := range c.take(count) {
				c.Reject(d.Queue, d.Consumer, d.Handle, 1)
			}
			c.Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			synctest.Test(t, func(t *testing.T) {
				b := openBroker(t, fs, func(o *Options) { o.Shards = 1 })
				c := newClient(t, b)
				c.queue("dead", nil)
				c.queue("src", func(s *QueueSpec) { toQueue("dead")(s); s.Policy.MessageTTL = 60_000 })
				for range count {
					c.put("", "src", body, nil)
				}
				if reject != nil {
					reject(c)
				} else {
					time.Sleep(time.Minute)
				}
				synctest.Wait()
				q, _ := c.vhost.Queue("dead")
				must(t, q.Home().Call(func() {
					if n := shard.ContextOf(q).Deliveries().Ready(); n != count {
						t.Errorf("%d dead messages, want %d", n, count)
					}
				}))
				c.Close()
				mustClose(t, b)
			})
			for index, n := range entryLengths(t, fs, 1) {
				if n > shardlog.EntryBytes+size+1024 {
					t.Errorf("entry %d has %d bytes", index, n)
				}
			}
		})
	}
}

// Expiry pauses while too many dead letters are in transit to other shards.
func TestExpiryWaitsForDeadLettersOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		c.queue("dead", nil)
		c.queue("src", func(s *QueueSpec) { toQueue("dead")(s); s.Policy.MessageTTL = 1000 })
		src, _ := c.vhost.Queue("src")
		if dead, _ := c.vhost.Queue("dead"); dead.Home() == src.Home() {
			t.Fatal("both queues are on one shard")
		}
		c.put("", "src", "x", nil)
		sh := src.Home()
		must(t, sh.Call(func() { shard.DebugOf(sh).UnderWay(shard.MaxDeadBytes) }))
		time.Sleep(time.Minute)
		synctest.Wait()
		sameStrings(t, c.drain("dead"))
		must(t, sh.Call(func() { shard.DebugOf(sh).UnderWay(-shard.MaxDeadBytes) }))
		time.Sleep(shard.DeadRetry * time.Millisecond)
		synctest.Wait()
		sameStrings(t, c.drain("dead"), "x")
		must(t, sh.Call(func() {
			if bytes, _ := shard.DebugOf(sh).UnderWay(0); bytes != 0 || shard.ContextOf(src).Deliveries().Unacked() != 0 {
				t.Errorf("%d bytes, %d messages still on their way", bytes, shard.ContextOf(src).Deliveries().Unacked())
			}
		}))
	})
}

// unreadable is a disk whose files cannot be read while bad is set.
type unreadable struct {
	vfs.FS
	bad *atomic.Bool
}

func (u unreadable) wrap(f vfs.File, err error) (vfs.File, error) {
	return unreadableFile{f, u.bad}, err
}

func (u unreadable) Open(path string) (vfs.File, error) { return u.wrap(u.FS.Open(path)) }
func (u unreadable) OpenReadWrite(path string) (vfs.File, error) {
	return u.wrap(u.FS.OpenReadWrite(path))
}

type unreadableFile struct {
	vfs.File
	bad *atomic.Bool
}

func (f unreadableFile) ReadAt(p []byte, off int64) (int, error) {
	if f.bad.Load() {
		return 0, syscall.EIO
	}
	return f.File.ReadAt(p, off)
}

// A message that dies while it cannot be read is set aside and not settled: it is available again
// after a restart.
func TestUnreadableDeadMessageSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bad atomic.Bool
		fs := unreadable{vfs.NewMem(), &bad}
		b := openBroker(t, fs, nil)
		c := newClient(t, b)
		c.queue("dead", nil)
		c.queue("src", func(s *QueueSpec) { toQueue("dead")(s); s.Policy.MessageTTL = 60_000 })
		c.put("", "src", "precious", nil)
		restart := func() {
			c.Close()
			mustClose(t, b)
			b = openBroker(t, fs, nil)
			c = newClient(t, b)
		}
		restart() // the body is only on disk now
		bad.Store(true)
		time.Sleep(time.Hour)
		synctest.Wait()
		bad.Store(false)
		if n := b.Stats().Unreadable; n != 1 {
			t.Errorf("%d messages set aside, want 1", n)
		}
		sameStrings(t, c.drain("dead"))
		restart()
		time.Sleep(time.Second)
		synctest.Wait()
		sameStrings(t, c.drain("src"))
		sameStrings(t, c.drain("dead"), "precious")
		c.Close()
		mustClose(t, b)
	})
}
