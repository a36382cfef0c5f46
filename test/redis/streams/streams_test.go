package streams

import (
	"iter"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/test/redis/duel"
)

// both starts new servers for each sequence, since two streams may get the same id from the clock.
func both(t *testing.T, made func(*language)) (duels []*duel.Duel) {
	for _, resp3 := range []bool{false, true} {
		duels = append(duels, duel.New(t, duel.Options{
			RESP3: resp3,
			Redis: []string{"--stream-node-max-bytes", "0"}, // nodes with a limit in bytes would be trimmed elsewhere
			Language: func() duel.Language {
				l := &language{names: map[string]string{}}
				made(l)
				return l
			},
		}))
	}
	return duels
}

// TestScripts checks that the scripts have the same replies on both servers, in both versions of
// the protocol.
func TestScripts(t *testing.T) {
	for _, d := range both(t, func(*language) {}) {
		d.Scripts(t)
	}
}

// length is the number of commands in a random sequence.
const length = 60

// TestRandomStreams checks that random sequences have the same replies on both servers, in both
// versions of the protocol.
func TestRandomStreams(t *testing.T) {
	var spoken *language // of one of the two servers, in the current sequence
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
