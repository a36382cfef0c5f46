package lists

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
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
	options := func(o *broker.Options) {
		o.SegmentBytes, o.CheckpointBytes, o.Shards = 16<<10, 4<<10, 1+int(seed%2)
		o.MemoryLimit = []int64{96 << 10, 1 << 30}[seed%2]
	}
	b := enginetest.Open(t, mem, options)
	c := enginetest.NewClient(t, b)
	if seed%3 == 0 {
		c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.MaxPriority = 3 })
	}
	var twins [2][]string // the head first
	names := []string{"q", "other"}
	c.MustDo(&Push{OnQueue: enginetest.On("other"), Create: true}, &Push{OnQueue: enginetest.On("q"), Create: true})
	sent := 0
	for range steps {
		i := rng.IntN(2)
		q := &twins[i]
		switch n := rng.IntN(100); {
		case n < 45:
			p := &Push{OnQueue: enginetest.On(names[i]), Front: rng.IntN(2) == 0}
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
			if c.MustDo(p); p.Len != len(*q) {
				t.Fatalf("%d after a push, want %d", p.Len, len(*q))
			}
		case n < 75:
			p := &Pop{OnQueue: enginetest.On(names[i]), Back: rng.IntN(2) == 0, Max: rng.IntN(30)}
			c.MustDo(p)
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
			m := &Move{OnQueue: enginetest.On(names[i]), To: names[rng.IntN(2)], FromBack: rng.IntN(2) == 0, ToFront: rng.IntN(2) == 0}
			if c.MustDo(m); m.Moved != (len(*q) > 0) {
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
			r := &Range{OnQueue: enginetest.On(names[i]), Last: -1}
			if c.MustDo(r); !slices.Equal(texts(r.Bodies), *q) {
				t.Fatalf("%q, want %q", r.Bodies, *q)
			}
			br, err := inspect.Browse(c.Session, names[i])
			enginetest.Must(t, err)
			var seen []string
			for page, err := br.Next(100); len(page) > 0; page, err = br.Next(100) {
				enginetest.Must(t, err)
				for _, m := range page {
					seen = append(seen, string(m.Env.Body()))
				}
			}
			if !slices.Equal(seen, *q) {
				t.Fatalf("browsed %q, want %q", seen, *q)
			}
		default:
			want, err := b.Hash()
			enginetest.Must(t, err)
			if n == 99 {
				c.Close()
				enginetest.Close(t, b)
			} else {
				enginetest.Sync(t, b)
				mem = mem.CrashClone(rng)
				c.Close()
				enginetest.Close(t, b)
			}
			b = enginetest.Open(t, mem, options)
			c = enginetest.NewClient(t, b)
			if got, err := b.Hash(); err != nil || got != want {
				t.Fatalf("state after a restart differs: %v", err)
			}
		}
	}
	c.Close()
	enginetest.Close(t, b)
}

// Where there is no place before the head, the answer says so and nothing is lost.
func TestNoFront(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	c.Queue("p", func(s *catalog.QueueSpec) { s.Policy.MaxPriority = 255 })
	push := &Push{OnQueue: enginetest.On("p"), Bodies: values("x"), Front: true}
	move := &Move{OnQueue: enginetest.On("q"), To: "p", ToFront: true}
	count := &broker.Count{OnQueue: enginetest.On("q")}
	enginetest.Must(t, c.Do(push, &Push{OnQueue: enginetest.On("q"), Bodies: values("m"), Create: true}, move, count))
	if !errors.Is(push.Err, failure.ErrNoFront) || !errors.Is(move.Err, failure.ErrNoFront) || count.Ready != 1 {
		t.Fatalf("%v, %v, %d left", push.Err, move.Err, count.Ready)
	}
}
