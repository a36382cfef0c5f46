package lists

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// awaiting is one Await on a session of its own.
type awaiting struct {
	*enginetest.Client
	at   int
	err  error
	done chan struct{}
}

// await returns when the call waits.
func await(t *testing.T, b *broker.Broker, commands ...broker.Command) *awaiting {
	t.Helper()
	a := &awaiting{Client: enginetest.NewClient(t, b), done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.at, a.err = a.Await(context.Background(), commands...)
	}()
	for !a.Waits() {
		runtime.Gosched()
	}
	return a
}

// Commands that are done at one moment see each other's effects, over any shards; one that fails
// does not stop the others.
func TestDoAll(t *testing.T) {
	mem := vfs.NewMem()
	b := enginetest.Open(t, mem, nil)
	c := enginetest.NewClient(t, b)
	here, there := enginetest.TwoShards(t, c)
	pushes := []*Push{{OnQueue: enginetest.On(here), Bodies: values("a", "b")}, {OnQueue: enginetest.On(there), Bodies: values("x")}}
	move := &Move{OnQueue: enginetest.On(here), To: there}
	missing := &Pop{OnQueue: enginetest.On("nowhere"), Max: 1}
	pop := &Pop{OnQueue: enginetest.On(there), Max: 5}
	look := &Range{OnQueue: enginetest.On(here), Last: -1}
	enginetest.Must(t, c.DoAll(pushes[0], pushes[1], missing, move, pop, look))
	if !errors.Is(missing.Err, failure.ErrQueueNotFound) || !move.Moved || string(move.Body) != "a" ||
		!slices.Equal(texts(pop.Bodies), []string{"x", "a"}) || !slices.Equal(texts(look.Bodies), []string{"b"}) {
		t.Fatalf("%v, moved %v, popped %q, left %q", missing.Err, move.Moved, pop.Bodies, look.Bodies)
	}
	c.Close()
	enginetest.Close(t, b)
	if err := c.DoAll(look); !errors.Is(err, failure.ErrClosed) {
		t.Fatalf("on a closed broker: %v", err)
	}
	b = enginetest.Open(t, mem, nil)
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	if got := [][]string{c.Drain(here), c.Drain(there)}; !slices.Equal(got[0], []string{"b"}) || len(got[1]) > 0 {
		t.Fatalf("after a restart: %q", got)
	}
}

// A message moves whole, within a shard and between two, in a row of commands, and for a call that
// waits.
func TestMove(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	here, there := enginetest.TwoShards(t, c)
	for _, to := range []string{here, there} {
		move := &Move{OnQueue: enginetest.On(here), To: to}
		push := &Push{OnQueue: enginetest.On(here), Bodies: values("1", "2")}
		pop := &Pop{OnQueue: enginetest.On(to), Max: 9}
		c.MustDo(push, move, pop)
		if !move.Moved || string(move.Body) != "1" {
			t.Fatalf("moved %v %q", move.Moved, move.Body)
		}
		want := []string{"1"}
		if to == here {
			want = []string{"2", "1"}
		}
		if !slices.Equal(texts(pop.Bodies), want) {
			t.Fatalf("to %s: %q, want %q", to, pop.Bodies, want)
		}
		c.MustDo(&broker.Clear{OnQueue: enginetest.On(here)})
		m := &Move{OnQueue: enginetest.On(here), To: to}
		a := await(t, b, m)
		c.MustDo(&Push{OnQueue: enginetest.On(here), Bodies: values("3")})
		<-a.done
		if a.err != nil || m.Err != nil || string(m.Body) != "3" {
			t.Fatalf("%v %v %q", a.err, m.Err, m.Body)
		}
		if got := c.Drain(to); !slices.Equal(got, []string{"3"}) {
			t.Fatalf("to %s: %q", to, got)
		}
	}
}

// A message that cannot be put where it should go stays at its place.
func TestMoveRefused(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	here, there := enginetest.TwoShards(t, c)
	c.Queue("full", func(s *catalog.QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 0, catalog.RejectPublish })
	c.MustDo(&Push{OnQueue: enginetest.On(here), Bodies: values("1", "2")}, &Push{OnQueue: enginetest.On(there), Bodies: values("1", "2")})
	for _, from := range []string{here, there} {
		move := &Move{OnQueue: enginetest.On(from), To: "full"}
		enginetest.Must(t, c.Do(move))
		if !errors.Is(move.Err, failure.ErrRejected) {
			t.Fatalf("moved to a full queue: %v", move.Err)
		}
		if _, err := c.Await(t.Context(), move); err != nil || !errors.Is(move.Err, failure.ErrRejected) {
			t.Fatalf("moved to a full queue: %v, %v", err, move.Err)
		}
		if d, _, ok, err := c.Get(from, true); !ok || err != nil || d.Redelivered || string(d.Env.Body()) != "1" {
			t.Fatalf("after that: %v %v %v", d, ok, err)
		}
	}
}

// A call that waits to move a message, and is served by an atomic batch of others, touches no shard
// that does not stand still for that batch.
func TestMeetingServesAMoveElsewhere(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.Shards = 3 })
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	queues := map[uint32]*shard.Queue{} // one on each shard
	for i := 0; len(queues) < 3; i++ {
		name := fmt.Sprint("q", i)
		c.Queue(name, nil)
		c.At(name, func(at shard.Context) { queues[at.Shard()] = at.Queue() })
	}
	from, other, to := queues[1], queues[2], queues[3]
	m := &Move{OnQueue: enginetest.On(from.Name), To: to.Name}
	a := await(t, b, m)
	enginetest.Must(t, b.At(to, func(at shard.Context) {
		enginetest.Must(t, c.DoAll(&Push{OnQueue: enginetest.On(from.Name), Bodies: values("m")}, &Push{OnQueue: enginetest.On(other.Name), Bodies: values("x")}))
		if n := at.Deliveries().Ready(); n > 0 {
			t.Errorf("%d messages were put into a queue while its shard was busy", n)
		}
	}))
	<-a.done
	if a.err != nil || m.Err != nil || string(m.Body) != "m" {
		t.Fatalf("%v, %+v", a.err, m)
	}
	if got := c.Drain(to.Name); !slices.Equal(got, []string{"m"}) {
		t.Fatalf("moved %q", got)
	}
}
