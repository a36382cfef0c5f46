package duel

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Random runs random sequences on the duels in turn, as many as usual says, and stops at the first
// that differs.
func Random(t *testing.T, usual int, sequence func(*rand.Rand) iter.Seq[Step], duels ...*Duel) {
	t.Helper()
	seed, times := Number(t, "REDIS_SEED", 1), Number(t, "REDIS_TIMES", 1)
	for i := range uint64(usual) * times {
		rng := rand.New(rand.NewPCG(seed, i))
		if !duels[i%uint64(len(duels))].Play(fmt.Sprintf("seed %d, sequence %d", seed, i), sequence(rng)) {
			return
		}
	}
}

// Number returns an integer from the environment.
func Number(t testing.TB, name string, unset uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
