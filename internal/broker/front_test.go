package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways/internal/storage/vfs"
)

// Both ends of any queue can be pushed to and popped from, whatever it has seen before, and over
// restarts.
func TestBothEnds(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runEnds(t, seed, 600) })
	}
}

func runEnds(t *testing.T, seed uint64, steps int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	mem := vfs.NewMem()
	options := func(o *Options) {
		o.SegmentBytes, o.CheckpointBytes, o.Shards = 16<<10, 4<<10, 1+int(seed%2)
		o.MemoryLimit = []int64{96 << 10, 1 << 30}[seed%2]
	}
	b := openBroker(t, mem, options)
	c := newClient(t, b)
	if seed%3 == 0 {
		c.queue("q", func(s *QueueSpec) { s.Policy.MaxPriority = 3 })
	}
	var twins [2][]string // the head first
	names := []string{"q", "other"}
	c.do(&Push{OnQueue: on("other"), Create: true}, &Push{OnQueue: on("q"), Create: true})
	sent := 0
	for range steps {
		i := rng.IntN(2)
		q := &twins[i]
		switch n := rng.IntN(100); {
		case n < 45:
			p := &Push{OnQueue: on(names[i]), Front: rng.IntN(2) == 0}
			for range 1 + rng.IntN(20) {
				sent++
				body := fmt.Sprint("message ", sent)
				p.Bodies = append(p.Bodies, []byte(body))
				if p.Front {
					*q = slices.Insert(*q, 0, body)
				} else {
					*q = append(*q, body)
				}
			}
			if c.do(p); p.Len != len(*q) {
				t.Fatalf("%d after a push, want %d", p.Len, len(*q))
			}
		case n < 75:
			p := &Pop{OnQueue: on(names[i]), Back: rng.IntN(2) == 0, Max: rng.IntN(30)}
			c.do(p)
			k := min(p.Max, len(*q))
			want := slices.Clone((*q)[:k])
			if *q = (*q)[k:]; p.Back {
				*q = append(want, *q...)
				k = len(*q) - k
				want = slices.Clone((*q)[k:])
				*q = (*q)[:k]
				slices.Reverse(want)
			}
			if !slices.Equal(texts(p.Bodies), want) || p.Left != len(*q) {
				t.Fatalf("popped %q (back %v), want %q", p.Bodies, p.Back, want)
			}
		case n < 85:
			m := &Move{OnQueue: on(names[i]), To: names[rng.IntN(2)], FromBack: rng.IntN(2) == 0, ToFront: rng.IntN(2) == 0}
			if c.do(m); m.Moved != (len(*q) > 0) {
				t.Fatalf("moved %v of %d", m.Moved, len(*q))
			}
			if !m.Moved {
				continue
			}
			at := 0
			if m.FromBack {
				at = len(*q) - 1
			}
			body := (*q)[at]
			*q = slices.Delete(*q, at, at+1)
			to := &twins[slices.Index(names, m.To)]
			if m.ToFront {
				*to = slices.Insert(*to, 0, body)
			} else {
				*to = append(*to, body)
			}
			if string(m.Body) != body {
				t.Fatalf("moved %q, want %q", m.Body, body)
			}
		case n < 97:
			r := &Range{OnQueue: on(names[i]), Last: -1}
			if c.do(r); !slices.Equal(texts(r.Bodies), *q) {
				t.Fatalf("%q, want %q", r.Bodies, *q)
			}
			br, err := c.Browse(names[i])
			must(t, err)
			var seen []string
			for page, err := br.Next(100); len(page) > 0; page, err = br.Next(100) {
				must(t, err)
				for _, m := range page {
					seen = append(seen, string(m.Env.Body()))
				}
			}
			if !slices.Equal(seen, *q) {
				t.Fatalf("browsed %q, want %q", seen, *q)
			}
		default:
			want, err := b.Hash()
			must(t, err)
			if n == 99 {
				c.Close()
				mustClose(t, b)
			} else {
				syncAll(t, b)
				mem = mem.CrashClone(rng)
			}
			b = openBroker(t, mem, options)
			c = newClient(t, b)
			if got, err := b.Hash(); err != nil || got != want {
				t.Fatalf("state after a restart differs: %v", err)
			}
		}
	}
	c.Close()
	mustClose(t, b)
}

// Where there is no place before the head, one is told so and nothing is lost.
func TestNoFront(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("p", func(s *QueueSpec) { s.Policy.MaxPriority = 255 })
	push := &Push{OnQueue: on("p"), Bodies: values("x"), Front: true}
	move := &Move{OnQueue: on("q"), To: "p", ToFront: true}
	count := &Count{OnQueue: on("q")}
	must(t, c.Do(push, &Push{OnQueue: on("q"), Bodies: values("m"), Create: true}, move, count))
	if !errors.Is(push.Err, ErrNoFront) || !errors.Is(move.Err, ErrNoFront) || count.Ready != 1 {
		t.Fatalf("%v, %v, %d left", push.Err, move.Err, count.Ready)
	}
}
