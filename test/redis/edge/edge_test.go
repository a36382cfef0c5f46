package edge

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/redis/duel"
)

func newDuel(t *testing.T) *duel.Duel {
	return duel.New(t, duel.Options{Marked: true, Language: func() duel.Language { return language{} }})
}

// TestScripts checks that the scripts have the same replies on both servers.
func TestScripts(t *testing.T) { newDuel(t).Scripts(t) }

// TestRandom runs random sequences over three connections.
func TestRandom(t *testing.T) { duel.Random(t, 300, randomSteps, newDuel(t)) }

func randomSteps(rng *rand.Rand) iter.Seq[duel.Step] {
	return func(play func(duel.Step) bool) {
		for range 5 + rng.IntN(25) {
			s, err := duel.ParseStep(randomStep(rng))
			if err != nil {
				panic(err)
			}
			if !play(s) {
				return
			}
		}
	}
}

func randomStep(rng *rand.Rand) string {
	name := fmt.Sprintf("c%d>", rng.IntN(3))
	if rng.IntN(5) > 0 {
		return name + " " + randomCommand(rng)
	}
	commands := []string{"MULTI"}
	for range rng.IntN(4) {
		commands = append(commands, randomCommand(rng))
	}
	return name + " " + strings.Join(append(commands, pick(rng, "EXEC", "EXEC", "EXEC", "DISCARD", "EXEC x", "RESET")), ";") + ";UNWATCH"
}

func randomCommand(rng *rand.Rand) string {
	channel := func() string { return pick(rng, "a", "b", "ab", "c") }
	pattern := func() string { return pick(rng, "a*", "*", "[ab]", "?", "zz") }
	switch rng.IntN(20) {
	case 0, 1:
		return "SUBSCRIBE " + channel()
	case 2:
		return pick(rng, "SUBSCRIBE ", "SSUBSCRIBE ") + channel() + " " + channel()
	case 3, 4:
		return "PSUBSCRIBE " + pattern()
	case 5:
		return pick(rng, "UNSUBSCRIBE ", "SUNSUBSCRIBE ") + channel()
	case 6:
		return "PUNSUBSCRIBE " + pattern()
	case 7:
		return pick(rng, "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE")
	case 8, 9, 10, 11:
		return pick(rng, "PUBLISH ", "PUBLISH ", "SPUBLISH ") + channel() + " " + fmt.Sprint(rng.IntN(100))
	case 12:
		return pick(rng, "PUBSUB NUMPAT", "PUBSUB NUMSUB a b ab", "PUBSUB CHANNELS", "PUBSUB CHANNELS a*", "PUBSUB SHARDCHANNELS", "PUBSUB SHARDNUMSUB a b ab")
	case 13:
		return pick(rng, "PING", "PING x", "PING x y", "ECHO x", "ECHO")
	case 14:
		return pick(rng, "CLIENT SETNAME x", "CLIENT GETNAME", "CLIENT NONSENSE", "CLIENT SETNAME")
	case 15:
		return pick(rng, "HELLO 2", "HELLO 3", "HELLO 4", "HELLO 3 SETNAME y")
	case 16:
		return pick(rng, "WATCH q", "UNWATCH", "MULTI;PING;EXEC", "EXEC", "DISCARD", "SELECT 0", "SELECT 99")
	case 17:
		return pick(rng, "nonsense", "nonsense a b", "TIME x", "WAIT 0 0", "COMMAND COUNT x")
	case 18:
		return pick(rng, "RESET", "QUIT")
	}
	return pick(rng, "PUBLISH a", "SUBSCRIBE", "PUBSUB x", "RESET x")
}

func pick(rng *rand.Rand, from ...string) string { return from[rng.IntN(len(from))] }
