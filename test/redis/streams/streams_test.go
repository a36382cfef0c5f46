package streams

import (
	"iter"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/test/redis/duel"
)

// both begins anew for each sequence: two streams may get one id from the clock.
func both(t *testing.T, made func(*language)) (duels []*duel.Duel) {
	for _, resp3 := range []bool{false, true} {
		duels = append(duels, duel.New(t, duel.Options{
			RESP3: resp3,
			Redis: []string{"--stream-node-max-bytes", "0"}, // nodes that end after a number of bytes would be trimmed elsewhere
			Language: func() duel.Language {
				l := &language{names: map[string]string{}}
				made(l)
				return l
			},
		}))
	}
	return duels
}

// The scripts have the same replies from both, in both versions of the protocol.
func TestScripts(t *testing.T) {
	for _, d := range both(t, func(*language) {}) {
		d.Scripts(t)
	}
}

// length is how many commands a random sequence has.
const length = 60

// Random sequences have the same replies from both, in both versions of the protocol.
func TestRandomStreams(t *testing.T) {
	var spoken *language // of one of the two, in the sequence in hand
	steps := func(rng *rand.Rand) iter.Seq[duel.Step] {
		s := &script{Rand: rng, prefix: "s:", top: 1}
		return func(play func(duel.Step) bool) {
			for range length {
				if !play(duel.Command("1", s.next()...)) {
					return
				}
				s.clock = len(spoken.given)
			}
		}
	}
	duel.Random(t, 150, steps, both(t, func(l *language) { spoken = l })...)
}
