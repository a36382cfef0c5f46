package jobs

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/test/seeded"
)

// generator generates steps. It knows what was taken, so that most reports come from the job's
// worker.
type generator struct {
	rng    *rand.Rand
	leases []held // in the order of the player's leases
	bodies int
}

type held struct{ queue, mid string }

func (g *generator) pick(of ...int64) int64 { return of[g.rng.IntN(len(of))] }

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func (g *generator) next() step {
	s := step{queue: fmt.Sprint("q", g.rng.IntN(3)), mid: string(rune('a' + g.rng.IntN(8))), count: 1}
	switch n := g.rng.IntN(100); {
	case n < 25:
		g.bodies++
		s.verb, s.body = "enqueue", strconv.Itoa(g.bodies)
		s.update, s.requeue, s.reset = g.chance(40), g.chance(50), g.chance(20)
		s.backoff, s.lock = g.pick(0, 0, 0, 1, 200, 3000), g.pick(0, 0, 300, 1000, 20_000)
	case n < 45:
		s.verb, s.mid = "take", ""
		s.count, s.lock = int(g.pick(1, 1, 1, 2, 5)), g.pick(0, 100, 1000, 5000)
	case n < 70 && len(g.leases) > 0:
		s.verb = []string{"done", "done", "retry", "fail", "extend"}[g.rng.IntN(5)]
		s.lease = len(g.leases) - min(g.rng.IntN(12), len(g.leases)-1)
		s.queue = g.leases[s.lease-1].queue
		if !g.chance(3) { // otherwise the token of another job
			s.mid = g.leases[s.lease-1].mid
		}
		if s.verb == "extend" {
			s.ms = g.pick(1, 100, 1000, 10_000)
		} else if s.verb != "fail" {
			s.backoff = g.pick(0, 0, 1, 200, 3000)
		}
	case n < 73:
		s.verb = "cancel"
	case n < 88:
		s.verb, s.queue, s.mid = "advance", "", ""
		s.ms = g.pick(1, 1, 50, 99, 100, 101, 500, 1000, 2999)
	default:
		s.verb = "status"
	}
	return s
}

// TestRandom runs JOBS_STEPS (default 5000) random steps and regularly asks for the status of all
// ids.
func TestRandom(t *testing.T) {
	seed, steps := seeded.Number(t, "JOBS_SEED", 1), int(seeded.Number(t, "JOBS_STEPS", 5000))
	g := &generator{rng: rand.New(rand.NewPCG(seed, 7))}
	p := newPlayer(t, sides(t)...)
	counts := map[string]int{}
	var history []step
	play := func(s step) {
		history = append(history, s)
		before := len(p.leases)
		answer, agreed := p.play(s)
		counts[s.verb]++
		if !agreed {
			for _, h := range history[max(0, len(history)-60):] {
				if h.queue == s.queue || h.verb == "advance" {
					t.Log(h)
				}
			}
			t.Fatalf("seed %d: step %d: %s: %s", seed, len(history), s, answer)
		}
		for _, l := range p.leases[before:] {
			g.leases = append(g.leases, held{s.queue, l.mid})
		}
	}
	for n := range steps {
		play(g.next())
		if n%50 == 49 {
			for q := range 3 {
				for m := range 8 {
					play(step{verb: "status", queue: fmt.Sprint("q", q), mid: string(rune('a' + m))})
				}
			}
		}
	}
	t.Log(counts)
}
