package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// awaiting is one Await on a separate session.
type awaiting struct {
	*client
	commands []Command
	at       int
	err      error
	done     chan struct{}
	cancel   context.CancelFunc
}

func startAwait(t *testing.T, b *Broker, commands ...Command) *awaiting {
	ctx, cancel := context.WithCancel(context.Background())
	a := &awaiting{client: newClient(t, b), commands: commands, done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(a.done)
		a.at, a.err = a.Await(ctx, commands...)
	}()
	return a
}

// untilWaiting returns once n turns are in the line of a queue.
func untilWaiting(t *testing.T, b *Broker, name string, n int) {
	t.Helper()
	for have := -1; have != n; {
		v, _ := b.vhost("/")
		q, ok := v.Queue(name)
		if !ok {
			continue
		}
		must(t, q.At(func(shard.Context) { have = shard.DebugOf(q.Home()).Waiting(q) }))
	}
}

func (a *awaiting) popped(t *testing.T) []string {
	t.Helper()
	<-a.done
	if a.err != nil || a.at < 0 {
		t.Fatalf("%d, %v", a.at, a.err)
	}
	return texts(a.commands[a.at].(*popping).Bodies)
}

// Waiting calls are served in order of arrival, right after the command that brought something, and
// before consumers.
func TestAwait(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 3 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	var all []*awaiting
	for i := range 3 {
		all = append(all, startAwait(t, b, &popping{OnQueue: on("other"), Max: 1, Create: true}, &popping{OnQueue: on("q"), Max: 2, Create: true}))
		untilWaiting(t, b, "q", i+1)
	}
	c.consume("q", nil)
	push := &pushing{OnQueue: on("q"), Bodies: values("a", "b", "c")}
	count := &Count{OnQueue: on("q")}
	c.do(push, count)
	if push.Len != 3 || count.Ready != 0 {
		t.Fatalf("%d after the push, %d after the calls that wait", push.Len, count.Ready)
	}
	for i, want := range [][]string{{"a", "b"}, {"c"}} {
		if got := all[i].popped(t); !slices.Equal(got, want) || all[i].at != 1 {
			t.Fatalf("number %d got %q by command %d", i, got, all[i].at)
		}
	}
	untilWaiting(t, b, "other", 1)
	c.put("", "other", "x", nil) // as other protocols publish messages
	if got := all[2].popped(t); !slices.Equal(got, []string{"x"}) || all[2].at != 0 {
		t.Fatalf("got %q by command %d", got, all[2].at)
	}
	untilWaiting(t, b, "q", 0)
	c.put("", "q", "y", nil)
	if got := c.take(1); string(got[0].Env.Body()) != "y" {
		t.Fatalf("the consumer got %q", got[0].Env.Body())
	}
}

// A returned message goes to a waiting call.
func TestAwaitReturned(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.do(&pushing{OnQueue: on("q"), Bodies: values("m"), Create: true})
	d, _, _, err := c.Get("q", false)
	must(t, err)
	a := startAwait(t, b, &popping{OnQueue: on("q"), Max: 1})
	untilWaiting(t, b, "q", 1)
	c.Requeue(d.Queue, nil, d.Handle, 1)
	c.Flush()
	if got := a.popped(t); !slices.Equal(got, []string{"m"}) {
		t.Fatalf("got %q", got)
	}
}

// A wait ends with its context, its session, the broker, or a command that fails. It outlasts its
// queue.
func TestAwaitEnds(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	wait := func() *awaiting {
		a := startAwait(t, b, &popping{OnQueue: on("q"), Max: 1, Create: true})
		untilWaiting(t, b, "q", 1)
		return a
	}
	a := wait()
	a.cancel()
	if <-a.done; a.at != -1 || a.err != nil {
		t.Fatalf("at the end of its context: %d, %v", a.at, a.err)
	}
	untilWaiting(t, b, "q", 0)
	a = wait()
	a.Close()
	if <-a.done; a.at != -1 || !errors.Is(a.err, ErrClosed) {
		t.Fatalf("at the end of its session: %d, %v", a.at, a.err)
	}
	untilWaiting(t, b, "q", 0)
	a = wait()
	c := newClient(t, b)
	_, err := c.DeleteQueue("q", false, false)
	must(t, err)
	untilWaiting(t, b, "q", 1)
	c.put("", "q", "m", nil)
	if got := a.popped(t); !slices.Equal(got, []string{"m"}) {
		t.Fatalf("after the queue was deleted: %q", got)
	}
	pop := &popping{OnQueue: on("missing"), Max: 1}
	if at, err := c.Await(context.Background(), pop); at != 0 || err != nil || !errors.Is(pop.Err, ErrQueueNotFound) {
		t.Fatalf("at no queue: %d, %v, %v", at, err, pop.Err)
	}
	a = wait()
	mustClose(t, b)
	if <-a.done; a.at != -1 || !errors.Is(a.err, ErrClosed) {
		t.Fatalf("at the end of the broker: %d, %v", a.at, a.err)
	}
}

// Each message goes to exactly one of many calls that wait at several queues on several shards, and
// that may end at any time.
func TestAwaitMany(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 3 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	const waiters, each = 20, 30
	names := []string{"a", "b", "c", "d"}
	got := make(chan string, waiters*each)
	for i := range waiters {
		w := newClient(t, b)
		go func() {
			for n := 0; n < each; {
				ctx, cancel := context.WithCancel(context.Background())
				if i%3 == 0 {
					cancel()
				}
				pops := make([]Command, len(names))
				for k := range names {
					pops[k] = &popping{OnQueue: on(names[(i+n+k)%len(names)]), Max: 1, Create: true}
				}
				at, err := w.Await(ctx, pops...)
				cancel()
				if err != nil {
					t.Error(err)
					return
				}
				if at >= 0 {
					got <- string(pops[at].(*popping).Bodies[0])
					n++
				}
			}
		}()
	}
	seen := map[string]bool{}
	sent := 0
	for len(seen) < waiters*each {
		if sent < len(seen)+50 {
			c.do(&pushing{OnQueue: on(names[sent%4]), Bodies: values(fmt.Sprint(sent)), Create: true})
			sent++
			continue
		}
		body := <-got
		if seen[body] {
			t.Fatalf("%s came twice", body)
		}
		seen[body] = true
	}
}
