package broker

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fiveways/internal/storage/vfs"
)

// twoShards opens a broker and names two queues on different shards.
func twoShards(t *testing.T, mem *vfs.Mem) (b *Broker, c *client, here, there string) {
	b = openBroker(t, mem, func(o *Options) { o.Shards = 2 })
	c = newClient(t, b)
	here = "q0"
	c.queue(here, nil)
	v, _ := b.vhost("/")
	first, _ := v.queue(here)
	for i := 1; ; i++ {
		there = fmt.Sprint("q", i)
		c.queue(there, nil)
		if q, _ := v.queue(there); q.shard != first.shard {
			return b, c, here, there
		}
	}
}

// Commands that are done at one moment see each other's effects, over any shards; one that fails
// does not stop the others.
func TestDoAll(t *testing.T) {
	mem := vfs.NewMem()
	b, c, here, there := twoShards(t, mem)
	pushes := []*Push{{OnQueue: on(here), Bodies: values("a", "b")}, {OnQueue: on(there), Bodies: values("x")}}
	move := &Move{OnQueue: on(here), To: there}
	missing := &Pop{OnQueue: on("nowhere"), Max: 1}
	pop := &Pop{OnQueue: on(there), Max: 5}
	look := &Range{OnQueue: on(here), Last: -1}
	must(t, c.DoAll(pushes[0], pushes[1], missing, move, pop, look))
	if !errors.Is(missing.Err, ErrQueueNotFound) || !move.Moved || string(move.Body) != "a" ||
		!slices.Equal(texts(pop.Bodies), []string{"x", "a"}) || !slices.Equal(texts(look.Bodies), []string{"b"}) {
		t.Fatalf("%v, moved %v, popped %q, left %q", missing.Err, move.Moved, pop.Bodies, look.Bodies)
	}
	c.Close()
	mustClose(t, b)
	if err := c.DoAll(look); !errors.Is(err, ErrClosed) {
		t.Fatalf("on a closed broker: %v", err)
	}
	b = openBroker(t, mem, func(o *Options) { o.Shards = 2 })
	defer mustClose(t, b)
	c = newClient(t, b)
	defer c.Close()
	if got := [][]string{c.drain(here), c.drain(there)}; !slices.Equal(got[0], []string{"b"}) || len(got[1]) > 0 {
		t.Fatalf("after a restart: %q", got)
	}
}

// Who waits is served after all commands of one moment, not between them.
func TestDoAllServesAfterwards(t *testing.T) {
	b, c, here, there := twoShards(t, vfs.NewMem())
	defer mustClose(t, b)
	defer c.Close()
	a := startAwait(t, b, &Pop{OnQueue: on(here), Max: 1})
	untilWaiting(t, b, here, 1)
	must(t, c.DoAll(&Push{OnQueue: on(here), Bodies: values("1")}, &Push{OnQueue: on(there), Bodies: values("2")}, &Clear{OnQueue: on(here)},
		&Push{OnQueue: on(here), Bodies: values("3")}))
	if got := a.popped(t); !slices.Equal(got, []string{"3"}) {
		t.Fatalf("got %q", got)
	}
}

// A message moves whole, within a shard and between two, in a row of commands, and for who waits.
func TestMove(t *testing.T) {
	b, c, here, there := twoShards(t, vfs.NewMem())
	defer mustClose(t, b)
	defer c.Close()
	for _, to := range []string{here, there} {
		move := &Move{OnQueue: on(here), To: to}
		push := &Push{OnQueue: on(here), Bodies: values("1", "2")}
		pop := &Pop{OnQueue: on(to), Max: 9}
		c.do(push, move, pop)
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
		c.do(&Clear{OnQueue: on(here)})
		a := startAwait(t, b, &Move{OnQueue: on(here), To: to})
		untilWaiting(t, b, here, 1)
		c.do(&Push{OnQueue: on(here), Bodies: values("3")})
		<-a.done
		if m := a.commands[0].(*Move); a.err != nil || m.Err != nil || string(m.Body) != "3" {
			t.Fatalf("%v %v %q", a.err, m.Err, m.Body)
		}
		if got := c.drain(to); !slices.Equal(got, []string{"3"}) {
			t.Fatalf("to %s: %q", to, got)
		}
	}
}

// A message that cannot be put where it should go stays at its place.
func TestMoveRefused(t *testing.T) {
	b, c, here, there := twoShards(t, vfs.NewMem())
	defer mustClose(t, b)
	defer c.Close()
	full := func(s *QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 0, RejectPublish }
	c.queue("full", full)
	c.do(&Push{OnQueue: on(here), Bodies: values("1", "2")}, &Push{OnQueue: on(there), Bodies: values("1", "2")})
	for _, from := range []string{here, there} {
		move := &Move{OnQueue: on(from), To: "full"}
		must(t, c.Do(move))
		if !errors.Is(move.Err, ErrRejected) {
			t.Fatalf("moved to a full queue: %v", move.Err)
		}
		if _, err := c.Await(t.Context(), move); err != nil || !errors.Is(move.Err, ErrRejected) {
			t.Fatalf("moved to a full queue: %v, %v", err, move.Err)
		}
		if d, _, ok, err := c.Get(from, true); !ok || err != nil || d.Redelivered || string(d.Env.Body()) != "1" {
			t.Fatalf("after that: %v %v %v", d, ok, err)
		}
	}
}

// Who waits to move a message, and is served at one moment of others, touches no shard that does
// not stand still for that.
func TestMeetingServesAMoveElsewhere(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 3 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	var queues []*Queue // one on each shard
	for i := 0; len(queues) < 3; i++ {
		name := fmt.Sprint("q", i)
		c.queue(name, nil)
		q := find(t, c, name)
		if !slices.ContainsFunc(queues, func(have *Queue) bool { return have.shard == q.shard }) {
			queues = append(queues, q)
		}
	}
	from, other, to := queues[0], queues[1], queues[2]
	a := startAwait(t, b, &Move{OnQueue: on(from.Name), To: to.Name})
	untilWaiting(t, b, from.Name, 1)
	must(t, to.shard.call(func() {
		must(t, c.DoAll(&Push{OnQueue: on(from.Name), Bodies: values("m")}, &Push{OnQueue: on(other.Name), Bodies: values("x")}))
		if n := to.state.Ready(); n > 0 {
			t.Errorf("%d messages were put into a queue while its shard was busy", n)
		}
	}))
	<-a.done
	if m := a.commands[0].(*Move); a.err != nil || m.Err != nil || string(m.Body) != "m" {
		t.Fatalf("%v, %+v", a.err, m)
	}
	if got := c.drain(to.Name); !slices.Equal(got, []string{"m"}) {
		t.Fatalf("moved %q", got)
	}
}

// A few commands that move much do not make a group that the log cannot take: the rest of them, and
// who waits, come later or not at all.
func TestDoAllIsBounded(t *testing.T) {
	b, c, here, there := twoShards(t, vfs.NewMem())
	defer mustClose(t, b)
	defer c.Close()
	b.groupBytes = 3000
	body := string(make([]byte, 1000))
	c.do(&Push{OnQueue: on(here), Bodies: values(body)})
	a := startAwait(t, b, &Move{OnQueue: on(there), To: there})
	untilWaiting(t, b, there, 1)
	moves := make([]Move, 6)
	var commands []Command
	for i := range moves {
		moves[i] = Move{OnQueue: on(here), To: here}
		commands = append(commands, &moves[i])
	}
	last := &Push{OnQueue: on(there), Bodies: values("x")}
	must(t, c.DoAll(append([]Command{&Push{OnQueue: on(there), Bodies: values(body)}}, append(commands, last)...)...))
	for i := range moves {
		if m := &moves[i]; i < 2 && (m.Err != nil || !m.Moved) || i > 2 && !errors.Is(m.Err, ErrTooLarge) {
			t.Errorf("move %d: %v", i, m.Err)
		}
	}
	if !errors.Is(last.Err, ErrTooLarge) {
		t.Errorf("push: %v", last.Err)
	}
	<-a.done
	if m := a.commands[0].(*Move); a.err != nil || m.Err != nil || string(m.Body) != body {
		t.Fatalf("%v, %v, %v", a.err, m.Err, m.Moved)
	}
	for _, name := range []string{here, there} {
		if got := c.drain(name); !slices.Equal(got, []string{body}) {
			t.Fatalf("%d messages are left", len(got))
		}
	}
}
