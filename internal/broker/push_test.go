package broker

import (
	"fmt"
	"slices"
	"testing"

	"fiveways/internal/storage/vfs"
)

func on(queue string) OnQueue { return OnQueue{Queue: queue} }

func texts(bodies [][]byte) (out []string) {
	for _, b := range bodies {
		out = append(out, string(b))
	}
	return out
}

func values(texts ...string) (out [][]byte) {
	for _, s := range texts {
		out = append(out, []byte(s))
	}
	return out
}

// do does commands that must all go well.
func (c *client) do(commands ...Command) {
	c.t.Helper()
	if err := c.Do(commands...); err != nil {
		c.t.Fatal(err)
	}
	for _, k := range commands {
		if err := k.on().Err; err != nil {
			c.t.Fatalf("%T: %v", k, err)
		}
	}
}

// What is pushed is there for everybody, in order, after a restart too; what is popped is gone.
func TestPushAndPop(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	c := newClient(t, b)
	push := &Push{OnQueue: on("new"), Bodies: values("a", "b", "c"), Create: true}
	pop := &Pop{OnQueue: on("new"), Max: 2}
	count := &Count{OnQueue: on("new")}
	c.do(push, pop, count)
	if push.Len != 3 || !slices.Equal(texts(pop.Bodies), []string{"a", "b"}) || pop.Left != 1 || count.Ready != 1 {
		t.Fatalf("pushed %d, popped %q, left %d, count %d", push.Len, pop.Bodies, pop.Left, count.Ready)
	}
	c.queue("other", nil) // else it goes with its messages
	wipe := &Clear{OnQueue: on("other")}
	c.do(&Push{OnQueue: on("other"), Bodies: values("x", "y"), Create: true}, wipe)
	if wipe.Removed != 2 {
		t.Fatalf("%d removed", wipe.Removed)
	}
	c.Close()
	mustClose(t, b)
	b = openBroker(t, mem, nil)
	defer mustClose(t, b)
	c = newClient(t, b)
	defer c.Close()
	if got := c.drain("other"); len(got) > 0 {
		t.Fatalf("after a restart: %q", got)
	}
	if got := c.drain("new"); !slices.Equal(got, []string{"c"}) {
		t.Fatalf("after a restart: %q", got)
	}
}

// Range counts places from either end, also where the bodies are only on disk.
func TestRange(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.MemoryLimit = 1 << 10 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	var all []string
	for i := range 1000 {
		all = append(all, fmt.Sprint("message ", i))
	}
	c.do(&Push{OnQueue: on("q"), Bodies: values(all...), Create: true})
	back := slices.Clone(all)
	slices.Reverse(back)
	for _, in := range [][2]int{{0, -1}, {0, 9}, {-10, -1}, {500, 510}, {990, 2000}, {5, 4}, {-2000, 3}, {2000, 3000}, {999, 999}} {
		first, last := in[0], in[1]
		if first < 0 {
			first = max(first+1000, 0)
		}
		if last < 0 {
			last += 1000
		}
		last = min(last, 999)
		for i, want := range [][]string{all, back} {
			r := &Range{OnQueue: on("q"), First: in[0], Last: in[1], Back: i == 1}
			c.do(r)
			if first > last {
				want = nil
			} else {
				want = want[first : last+1]
			}
			if !slices.Equal(texts(r.Bodies), want) {
				t.Fatalf("%v back %v: %d messages, want %d", in, r.Back, len(r.Bodies), len(want))
			}
		}
	}
}
