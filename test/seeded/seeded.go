// Package seeded lets the environment choose how many random cases a test runs, and which ones.
package seeded

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Number returns a number from the environment, or usual if the variable is not set.
func Number(t testing.TB, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Cases returns the number of random cases, which the variable name overrides, and their source of
// random numbers. Its seed is the variable name_SEED; stream separates the tests with the same one.
func Cases(t testing.TB, name string, usual, stream uint64) (many uint64, rng *rand.Rand) {
	t.Helper()
	many, seed := Number(t, name, usual), Number(t, name+"_SEED", 1)
	t.Logf("%s=%d %s_SEED=%d", name, many, name, seed)
	return many, rand.New(rand.NewPCG(seed, stream))
}
