package redis

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// family makes the steps of random sequences of some commands.
type family struct {
	name      string
	sequences int
	step      func(*rand.Rand) step
}

var families = []family{
	{"lists", 2500, listStep},
}

// TestRandom plays random sequences. SEED and SEQUENCES (of each family) choose others than the usual ones.
func TestRandom(t *testing.T) {
	seed := number("SEED", 1)
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			n := int(number("SEQUENCES", uint64(f.sequences)))
			duels := []*duel{newDuel(t, false), newDuel(t, true)}
			for i := range n {
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				steps := make([]step, 5+rng.IntN(20))
				for k := range steps {
					steps[k] = f.step(rng)
				}
				if !duels[i%2].play(fmt.Sprintf("seed %d, sequence %d", seed, i), steps) {
					return
				}
			}
		})
	}
}

func number(name string, usual uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return usual
}
