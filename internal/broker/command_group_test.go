package broker

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// twoShards opens a broker and names two queues on different shards.
func twoShards(t *testing.T, mem *vfs.Mem) (b *Broker, c *client, here, there string) {
	b = openBroker(t, mem, func(o *Options) { o.Shards = 2 })
	c = newClient(t, b)
	here = "q0"
	c.queue(here, nil)
	v, _ := b.vhost("/")
	first, _ := v.Queue(here)
	for i := 1; ; i++ {
		there = fmt.Sprint("q", i)
		c.queue(there, nil)
		if q, _ := v.Queue(there); q.Home() != first.Home() {
			return b, c, here, there
		}
	}
}

// A waiting call is served after all commands of an atomic batch, not between them.
func TestDoAllServesAfterwards(t *testing.T) {
	b, c, here, there := twoShards(t, vfs.NewMem())
	defer mustClose(t, b)
	defer c.Close()
	a := startAwait(t, b, &popping{OnQueue: on(here), Max: 1})
	untilWaiting(t, b, here, 1)
	must(t, c.DoAll(&pushing{OnQueue: on(here), Bodies: values("1")}, &pushing{OnQueue: on(there), Bodies: values("2")}, &Clear{OnQueue: on(here)},
		&pushing{OnQueue: on(here), Bodies: values("3")}))
	if got := a.popped(t); !slices.Equal(got, []string{"3"}) {
		t.Fatalf("got %q", got)
	}
}

// A few commands that move much data do not make a group too large for the log. The remaining ones,
// and waiting calls, come later or fail.
func TestDoAllIsBounded(t *testing.T) {
	b, c, here, there := twoShards(t, vfs.NewMem())
	defer mustClose(t, b)
	defer c.Close()
	b.groupBytes = 3000
	body := string(make([]byte, 1000))
	c.do(&pushing{OnQueue: on(here), Bodies: values(body)})
	a := startAwait(t, b, &moving{OnQueue: on(there), To: there})
	untilWaiting(t, b, there, 1)
	moves := make([]moving, 6)
	var commands []Command
	for i := range moves {
		moves[i] = moving{OnQueue: on(here), To: here}
		commands = append(commands, &moves[i])
	}
	last := &pushing{OnQueue: on(there), Bodies: values("x")}
	must(t, c.DoAll(append([]Command{&pushing{OnQueue: on(there), Bodies: values(body)}}, append(commands, last)...)...))
	for i := range moves {
		if m := &moves[i]; i < 2 && (m.Err != nil || !m.Got()) || i > 2 && !errors.Is(m.Err, ErrTooLarge) {
			t.Errorf("move %d: %v", i, m.Err)
		}
	}
	if !errors.Is(last.Err, ErrTooLarge) {
		t.Errorf("push: %v", last.Err)
	}
	<-a.done
	if m := a.commands[0].(*moving); a.err != nil || m.Err != nil || string(m.Body) != body {
		t.Fatalf("%v, %v, %v", a.err, m.Err, m.Got())
	}
	for _, name := range []string{here, there} {
		if got := c.drain(name); !slices.Equal(got, []string{body}) {
			t.Fatalf("%d messages are left", len(got))
		}
	}
}
