package broker

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// probe is a command that runs a function at its queue's shard.
type probe struct {
	OnQueue
	fn func()
}

func (p *probe) Find(f Finder) (*shard.Queue, error) { return f.s.readable(p.Queue) }

func (p *probe) Run(shard.Context) error {
	p.fn()
	return nil
}

func (*probe) OfStreams() {}

// find returns a queue of the client.
func find(t *testing.T, c *client, name string) *shard.Queue {
	t.Helper()
	q, err := c.usableQueue(name)
	must(t, err)
	return q
}

// goroutine returns the name of the current goroutine.
func goroutine() string {
	buf := make([]byte, 64)
	name, _, _ := bytes.Cut(buf[:runtime.Stack(buf, false)], []byte(" ["))
	return string(name)
}

// A session that finds the shard and the log idle runs its command itself, and the callbacks of the
// entry also run on its goroutine.
func TestInline(t *testing.T) {
	for _, mode := range []store.SyncMode{store.SyncAlways, store.SyncOS} {
		synctest.Test(t, func(t *testing.T) {
			b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Sync = mode })
			c := newClient(t, b)
			c.queue("q", nil)
			must(t, c.Do(&pushing{OnQueue: OnQueue{Queue: "q"}, Bodies: [][]byte{[]byte("m")}}))
			synctest.Wait() // they are idle
			var ran, told string
			must(t, c.Do(&probe{OnQueue: OnQueue{Queue: "q"}, fn: func() { ran = goroutine() }}))
			if ran != goroutine() {
				t.Errorf("mode %d: it ran on %s, not on %s", mode, ran, goroutine())
			}
			sh := find(t, c, "q").Home()
			synctest.Wait()
			must(t, c.Do(&probe{OnQueue: OnQueue{Queue: "q"}, fn: func() { sh.Log().WhenRecorded(func(error) { told = goroutine() }) }},
				&pushing{OnQueue: OnQueue{Queue: "q"}, Bodies: [][]byte{[]byte("m")}}))
			if told != goroutine() {
				t.Errorf("mode %d: it was committed on %s, not on %s", mode, told, goroutine())
			}
			c.Close()
			mustClose(t, b)
		})
	}
}

// A session that arrives while another runs the shard waits only for its own answer. The other one
// does not run later ops.
func TestInlineWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		one, two := newClient(t, b), newClient(t, b)
		one.queue("q", nil)
		synctest.Wait()
		inside, goOn := make(chan struct{}), make(chan struct{})
		first, second := make(chan string, 1), make(chan string, 1)
		go func() {
			must(t, one.Do(&probe{OnQueue: OnQueue{Queue: "q"}, fn: func() { close(inside); <-goOn }}))
			first <- goroutine()
		}()
		<-inside
		go func() {
			var ran string
			must(t, two.Do(&probe{OnQueue: OnQueue{Queue: "q"}, fn: func() { ran = goroutine() }}))
			second <- ran
		}()
		synctest.Wait()
		close(goOn)
		other, ran := <-first, <-second
		if ran == other || ran == goroutine() {
			t.Errorf("the second ran on %s, the first on %s", ran, other)
		}
		one.Close()
		two.Close()
		mustClose(t, b)
	})
}

// Timers that are set inline fire, the earliest first, however long the shard's goroutine was going
// to sleep.
func TestInlineSetsTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		start := time.Now()
		for _, s := range []int64{20, 5, 10, 2} {
			name := fmt.Sprint(s)
			c.queue("dead"+name, nil)
			c.queue(name, func(q *QueueSpec) {
				q.Policy.DeadLetter, q.Policy.HasDeadLetterKey, q.Policy.DeadLetterKey = true, true, "dead"+name
			})
			tx := c.NewTx()
			p := c.message(name, "m")
			p.TTL = s * 1000
			tx.Publish(p)
			must(t, tx.Commit())
		}
		for _, s := range []int64{2, 5, 10, 20} {
			name := fmt.Sprintf("dead%d", s)
			k := &Count{OnQueue: OnQueue{Queue: name}}
			time.Sleep(time.Until(start.Add(time.Duration(s)*time.Second - time.Millisecond)))
			must(t, c.Do(k))
			before := k.Ready
			time.Sleep(5 * time.Millisecond)
			after := int64(0)
			find(t, c, name).At(func(at shard.Context) { after = int64(at.Deliveries().Ready()) }) //nolint:errcheck // the broker is open
			if before != 0 || after != 1 {
				t.Errorf("%s: %d messages before its time, %d after it", name, before, after)
			}
		}
		c.Close()
		mustClose(t, b)
	})
}

// Sessions that run shards inline, publishers that do not wait, and transactions on all shards run
// at the same time.
func TestInlineOfMany(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 3 })
	names := []string{"a", "b", "c", "d"}
	first := newClient(t, b)
	for _, n := range names {
		first.queue(n, nil)
	}
	const rounds = 150
	var wg sync.WaitGroup
	for i := range 8 {
		c := newClient(t, b)
		wg.Go(func() {
			defer c.Close()
			for k := range rounds {
				switch name := names[(i+k)%len(names)]; k % 3 {
				case 0:
					c.put("", name, "m", nil)
				case 1:
					if err := c.Do(&pushing{OnQueue: OnQueue{Queue: name}, Bodies: [][]byte{[]byte("m")}}, &Count{OnQueue: OnQueue{Queue: names[k%len(names)]}}); err != nil {
						t.Error(err)
					}
				case 2:
					tx := c.NewTx()
					for _, n := range names {
						tx.Publish(c.message(n, "m"))
					}
					if err := tx.Commit(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range names {
		k := &Count{OnQueue: OnQueue{Queue: n}}
		must(t, first.Do(k))
		total += k.Ready
	}
	if want := 8 * rounds / 3 * (1 + 1 + len(names)); total != want {
		t.Errorf("%d messages, want %d", total, want)
	}
	first.Close()
	mustClose(t, b)
}

// A panic of the engine ends the process, even if the protocol recovers panics of its connections.
func TestInlinePanics(t *testing.T) {
	if os.Getenv("INLINE_PANICS") == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestInlinePanics$")
		cmd.Env = append(os.Environ(), "INLINE_PANICS=1")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: broken") || !strings.Contains(string(out), "inline_test.go") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", nil)
	defer func() { recover() }()                                               //nolint:errcheck // as a connection would
	c.Do(&probe{OnQueue: OnQueue{Queue: "q"}, fn: func() { panic("broken") }}) //nolint:errcheck // does not return
}

// calledOn is a confirmer that records on which goroutine it was called.
type calledOn chan string

func (c calledOn) Confirmed(uint64, uint64, bool) { c <- goroutine() }

// A session that flushes and has no other work is answered on its own goroutine if it is the only
// active one. Operations collected by others are executed, too, in order.
func TestFlushInline(t *testing.T) { synctest.Test(t, testFlushInline) }

func testFlushInline(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 1 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("q", nil)
	told := make(calledOn, 1)
	for i := range 3 {
		synctest.Wait() // nothing else uses the shard or the log
		c.post("", "q", fmt.Sprint(i), func(p *shard.Publish) { p.Confirm = told })
		c.FlushInline()
		if on := <-told; i > 0 && on != goroutine() {
			t.Errorf("message %d: told on %s, not on %s", i, on, goroutine())
		}
	}
	c.FlushInline() // nothing
	other := newClient(t, b)
	defer other.Close()
	for i, who := range []*client{other, c, other} { // one op each, in turn: each has a client that waits
		synctest.Wait()
		who.post("", "q", fmt.Sprint("turn", i), func(p *shard.Publish) { p.Confirm = told })
		who.FlushInline()
		if on := <-told; on != goroutine() {
			t.Errorf("turn %d: told on %s, not on %s", i, on, goroutine())
		}
	}
	for i := range 100 {
		c.post("", "q", fmt.Sprint("c", i), nil)
		other.post("", "q", fmt.Sprint("o", i), nil)
		c.FlushInline()
		other.FlushInline()
	}
	c.until(func() bool { return len(c.acks) == 100 })
	other.until(func() bool { return len(other.acks) == 100 })
	if got := c.drain("q"); len(got) != 206 || got[6] != "c0" || got[205] != "o99" {
		t.Errorf("%d messages", len(got))
	}
}

// toldOn is a sink with a socket that records on which goroutine it was told to write.
type toldOn struct {
	*client
	sent []string
}

func (o *toldOn) Gather(ds []shard.Delivery) { o.Deliver(ds) }
func (o *toldOn) Send()                      { o.sent = append(o.sent, goroutine()) }

// The session of a client that sends little does everything itself: shard, log, and the sockets of
// its consumers. Larger work, or work that arrives while the shard's own goroutine is busy, is left
// to others.
func TestFlushFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards, o.Sync = 1, store.SyncAlways })
		defer mustClose(t, b)
		out := &toldOn{client: newSink(t)}
		takes, err := b.OperateFor("/", out)
		must(t, err)
		defer takes.Close()
		c := newClient(t, b)
		defer c.Close()
		c.queue("q", nil)
		_, err = takes.Consume(shard.ConsumerSpec{Queue: "q", NoAck: true})
		must(t, err)
		told := make(calledOn, 1)
		post := func() { c.post("", "q", "x", func(p *shard.Publish) { p.Confirm = told }) }
		few := func(want bool, when string) {
			t.Helper()
			if c.FlushFew() != want {
				t.Fatalf("few %s: %v", when, !want)
			}
		}
		<-time.After(1010 * time.Millisecond) // between the checks of the watchdog
		post()
		few(true, "for a message")
		if on := <-told; on != goroutine() || !slices.Equal(out.sent, []string{on}) {
			t.Errorf("told on %s, sent on %v, not on %s", on, out.sent, goroutine())
		}
		for range 1000 {
			c.post("", "q", "x", nil)
		}
		few(false, "for many")
		c.Flush()
		post()
		few(false, "while others are at work")
		c.Flush()
		<-told
		<-time.After(1010 * time.Millisecond) // between the checks of the watchdog
		few(true, "for nothing")
		if len(out.sent) != 1 || len(out.got) != 1002 {
			t.Errorf("sent %d times, %d deliveries", len(out.sent), len(out.got))
		}
	})
}
