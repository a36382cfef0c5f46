package lists

import (
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

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

// What is pushed is there for all protocols, in order, after a restart too; what is popped is gone.
func TestPushAndPop(t *testing.T) {
	mem := vfs.NewMem()
	b := enginetest.Open(t, mem, nil)
	c := enginetest.NewClient(t, b)
	push := &Push{OnQueue: enginetest.On("new"), Bodies: values("a", "b", "c"), Create: true}
	pop := &Pop{OnQueue: enginetest.On("new"), Max: 2}
	count := &broker.Count{OnQueue: enginetest.On("new")}
	c.MustDo(push, pop, count)
	if push.Len != 3 || !slices.Equal(texts(pop.Bodies), []string{"a", "b"}) || pop.Left != 1 || count.Ready != 1 {
		t.Fatalf("pushed %d, popped %q, left %d, count %d", push.Len, pop.Bodies, pop.Left, count.Ready)
	}
	c.Queue("other", nil) // else it goes with its messages
	wipe := &broker.Clear{OnQueue: enginetest.On("other")}
	c.MustDo(&Push{OnQueue: enginetest.On("other"), Bodies: values("x", "y"), Create: true}, wipe)
	if wipe.Removed != 2 {
		t.Fatalf("%d removed", wipe.Removed)
	}
	c.Close()
	enginetest.Close(t, b)
	b = enginetest.Open(t, mem, nil)
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	if got := c.Drain("other"); len(got) > 0 {
		t.Fatalf("after a restart: %q", got)
	}
	if got := c.Drain("new"); !slices.Equal(got, []string{"c"}) {
		t.Fatalf("after a restart: %q", got)
	}
}

// Range counts places from either end, also where the bodies are only on disk.
func TestRange(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.MemoryLimit = 1 << 10 })
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	var all []string
	for i := range 1000 {
		all = append(all, fmt.Sprint("message ", i))
	}
	c.MustDo(&Push{OnQueue: enginetest.On("q"), Bodies: values(all...), Create: true})
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
			r := &Range{OnQueue: enginetest.On("q"), First: in[0], Last: in[1], Back: i == 1}
			c.MustDo(r)
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

// TestRemoveAndTrim: what is equal to a body goes from the end that is asked for, and what is left
// of a range stays in order, also on disk.
func TestRemoveAndTrim(t *testing.T) {
	mem := vfs.NewMem()
	b := enginetest.Open(t, mem, nil)
	c := enginetest.NewClient(t, b)
	all := func() []string {
		c.T.Helper()
		r := &Range{OnQueue: enginetest.On("q"), Last: -1}
		c.MustDo(r)
		return texts(r.Bodies)
	}
	c.MustDo(&Push{OnQueue: enginetest.On("q"), Bodies: values("a", "b", "a", "c", "a", "b", "d"), Create: true})
	for _, tc := range []struct {
		r    Remove
		n    int
		left string
	}{
		{Remove{Body: []byte("a"), Max: 1}, 1, "[b a c a b d]"},
		{Remove{Body: []byte("a"), Max: 1, Back: true}, 1, "[b a c b d]"},
		{Remove{Body: []byte("b")}, 2, "[a c d]"},
		{Remove{Body: []byte("x")}, 0, "[a c d]"},
	} {
		tc.r.OnQueue = enginetest.On("q")
		c.MustDo(&tc.r)
		if got := fmt.Sprint(all()); tc.r.Removed != tc.n || got != tc.left {
			t.Errorf("%q: %d removed, %s left, want %s", tc.r.Body, tc.r.Removed, got, tc.left)
		}
	}
	c.MustDo(&Trim{OnQueue: enginetest.On("q"), First: 0, Last: 1, Back: true})
	if got := all(); !slices.Equal(got, []string{"c", "d"}) {
		t.Errorf("after a trim from the back: %q", got)
	}
	c.MustDo(&Trim{OnQueue: enginetest.On("q"), First: -1, Last: -1})
	c.Close()
	enginetest.Close(t, b)
	b = enginetest.Open(t, mem, nil)
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	if got := all(); !slices.Equal(got, []string{"d"}) {
		t.Errorf("after a restart: %q", got)
	}
}
