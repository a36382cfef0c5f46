package duel

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/test/seeded"
)

// Random runs random sequences on the duels in turn, as many as usual says, and stops at the first
// that differs.
func Random(t *testing.T, usual int, sequence func(*rand.Rand) iter.Seq[Step], duels ...*Duel) {
	t.Helper()
	seed, times := seeded.Number(t, "REDIS_SEED", 1), seeded.Number(t, "REDIS_TIMES", 1)
	for i := range uint64(usual) * times {
		rng := rand.New(rand.NewPCG(seed, i))
		if !duels[i%uint64(len(duels))].Play(fmt.Sprintf("seed %d, sequence %d", seed, i), sequence(rng)) {
			return
		}
	}
}
