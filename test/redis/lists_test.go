package redis

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/test/redis/duel"
)

func both(t *testing.T) []*duel.Duel {
	return []*duel.Duel{duel.New(t, duel.Options{}), duel.New(t, duel.Options{RESP3: true})}
}

// TestScripts checks that the scripts have the same replies on both servers.
func TestScripts(t *testing.T) {
	for _, d := range both(t) {
		d.Scripts(t)
	}
}

// TestRandomLists checks that random sequences have the same replies on both servers.
func TestRandomLists(t *testing.T) {
	duel.Random(t, 2500, listSteps, both(t)...)
}

// listCommand is a command with placeholders for its arguments: k for a key, v for a value, n for a
// number that may be negative, c for a count, s for a side, t for an infinite timeout. A + after
// the last one means one or more of them.
type listCommand struct {
	weight int
	words  []string
}

var listCommands = []listCommand{
	{12, []string{"LPUSH", "k", "v+"}},
	{12, []string{"RPUSH", "k", "v+"}},
	{2, []string{"LPUSHX", "k", "v+"}},
	{2, []string{"RPUSHX", "k", "v+"}},
	{5, []string{"LPOP", "k"}},
	{5, []string{"RPOP", "k"}},
	{2, []string{"LPOP", "k", "n"}},
	{2, []string{"RPOP", "k", "n"}},
	{3, []string{"LLEN", "k"}},
	{5, []string{"LRANGE", "k", "n", "n"}},
	{5, []string{"LRANGE", "k", "0", "-1"}},
	{3, []string{"LINDEX", "k", "n"}},
	{3, []string{"LREM", "k", "n", "v"}},
	{2, []string{"LPOS", "k", "v", "RANK", "n", "COUNT", "c", "MAXLEN", "n"}},
	{2, []string{"LPOS", "k", "v", "RANK", "n"}},
	{2, []string{"LTRIM", "k", "n", "n"}},
	{5, []string{"LMOVE", "k", "k", "s", "s"}},
	{2, []string{"RPOPLPUSH", "k", "k"}},
	{2, []string{"LMPOP", "2", "k", "k", "s", "COUNT", "c"}},
	{1, []string{"LMPOP", "n", "k", "k", "s"}},
	{4, []string{"BLPOP", "k+", "t"}},
	{4, []string{"BRPOP", "k+", "t"}},
	{4, []string{"BLMOVE", "k", "k", "s", "s", "t"}},
	{2, []string{"BRPOPLPUSH", "k", "k", "t"}},
	{3, []string{"BLMPOP", "t", "2", "k", "k", "s", "COUNT", "c"}},
	{2, []string{"DEL", "k+"}},
	{2, []string{"EXISTS", "k+"}},
	{2, []string{"TYPE", "k"}},
	{1, []string{"XADD", "k", "1-1", "f", "v"}},
	{1, []string{"XLEN", "k"}},
	{3, []string{"MULTI"}},
	{5, []string{"EXEC"}},
	{1, []string{"DISCARD"}},
}

// connections is the number of connections in a sequence.
const connections = 4

func listSteps(rng *rand.Rand) iter.Seq[duel.Step] {
	return func(play func(duel.Step) bool) {
		for range 5 + rng.IntN(20) {
			if !play(listStep(rng)) {
				return
			}
		}
	}
}

func listStep(rng *rand.Rand) duel.Step {
	total := 0
	for _, c := range listCommands {
		total += c.weight
	}
	n := rng.IntN(total)
	for _, c := range listCommands {
		if n -= c.weight; n < 0 {
			return duel.Command(strconv.Itoa(1+rng.IntN(connections)), listWords(rng, c.words)...)
		}
	}
	panic("unreachable")
}

func listWords(rng *rand.Rand, form []string) (words []string) {
	for _, w := range form {
		times := 1
		if len(w) == 2 && w[1] == '+' {
			w, times = w[:1], 1+rng.IntN(3)
		}
		for range times {
			words = append(words, listWord(rng, w))
		}
	}
	if rng.IntN(60) == 0 {
		words = words[:1+rng.IntN(len(words))]
	}
	return words
}

func listWord(rng *rand.Rand, form string) string {
	switch form {
	case "k":
		return string("abc"[rng.IntN(3)])
	case "v":
		return fmt.Sprint("v", rng.IntN(4))
	case "n":
		if rng.IntN(20) == 0 {
			return []string{"x", "", "1.5", "-0", "99999999999"}[rng.IntN(5)]
		}
		return strconv.Itoa(rng.IntN(14) - 6)
	case "c":
		return strconv.Itoa(1 + rng.IntN(4))
	case "s":
		return []string{"LEFT", "RIGHT", "left", "right"}[rng.IntN(4)]
	case "t":
		return "0"
	}
	return form
}
