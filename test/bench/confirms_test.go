package main

import (
	"math/rand/v2"
	"testing"
)

// TestConfirmCounterAgainstSet confirms tags singly and in ranges, in random order, and compares
// with a plain set.
func TestConfirmCounterAgainstSet(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		told := map[uint64]int{}
		c := confirmCounter{each: func(tag uint64) { told[tag]++ }}
		silent := confirmCounter{}
		set := map[uint64]bool{}
		for range 40 {
			tag, multiple := 1+rng.Uint64N(60), rng.IntN(6) == 0
			c.ack(tag, multiple)
			silent.ack(tag, multiple)
			set[tag] = true
			for low := uint64(1); multiple && low < tag; low++ {
				set[low] = true
			}
			if c.total() != int64(len(set)) || silent.total() != int64(len(set)) {
				t.Fatalf("seed %d: counted %d and %d, want %d", seed, c.total(), silent.total(), len(set))
			}
		}
		for tag := range set {
			if told[tag] != 1 {
				t.Fatalf("seed %d: tag %d told %d times", seed, tag, told[tag])
			}
		}
		if len(told) != len(set) {
			t.Fatalf("seed %d: told %d tags, want %d", seed, len(told), len(set))
		}
	}
}
