package semaphore

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fiveways.dev/fiveways/test/seeded"
)

// TestRandom runs random steps on the core and on another side.
func TestRandom(t *testing.T) {
	seed, steps := seeded.Number(t, "SEMAPHORE_SEED", 1), seeded.Number(t, "SEMAPHORE_STEPS", 1000)
	for name, start := range map[string]func(t *testing.T) side{
		"manager":    func(t *testing.T) side { return startManager(t) },
		"postgresql": func(t *testing.T) side { return startPostgres(t) },
		"sql":        func(t *testing.T) side { return startFront(t) },
	} {
		t.Run(name, func(t *testing.T) {
			sides := []side{newCore(), start(t)}
			r := rand.New(rand.NewPCG(seed, 0))
			events := uint64(0)
			for i := range steps {
				line := randomStep(r)
				d := parse(t, line)
				want, got := play(t, sides[0], d), play(t, sides[1], d)
				if got != want {
					t.Fatalf("seed %d, step %d: %s\nsays %q\nwant %q", seed, i, line, got, want)
				}
				events += uint64(strings.Count(want, ">"))
			}
			if t.Logf("%d steps, %d events", steps, events); events < steps/10 {
				t.Errorf("only %d events in %d steps", events, steps)
			}
		})
	}
}

// randomStep returns a line of a script about two semaphores with a few tasks.
func randomStep(r *rand.Rand) string {
	key := []string{"a", "b"}[r.IntN(2)]
	list := func(word func() string) string {
		words := make([]string, 1+r.IntN(4)*r.IntN(2))
		for i := range words {
			words[i] = word()
		}
		return strings.Join(words, " ")
	}
	task := func() string { return strconv.Itoa(r.IntN(24) - 2) }
	entry := func() string { return fmt.Sprintf("%s=%v", task(), float64(r.IntN(9)-4)/2) }
	setting := func() string { return fmt.Sprintf("%s=%d", []string{"active", "try_release"}[r.IntN(2)], r.IntN(7)) }
	switch n := r.IntN(100); {
	case n < 3:
		return "create " + key + " active=3 try_release=2"
	case n < 4:
		return "drop " + key + []string{"", " if_empty"}[r.IntN(2)]
	case n < 12:
		return "update " + key + " " + setting()
	case n < 55:
		return "enqueue " + key + " " + list(entry)
	case n < 90:
		return "release " + key + " " + list(task)
	case n < 95:
		return "status " + key + " " + list(task)
	}
	return "tasks " + key + []string{"", " WAIT", " ACQUIRED", " TRY_RELEASE"}[r.IntN(4)]
}

func parse(t *testing.T, line string) *datadriven.TestData {
	cmd, args, err := datadriven.ParseLine(line)
	must(t, err)
	return &datadriven.TestData{Cmd: cmd, CmdArgs: args}
}
