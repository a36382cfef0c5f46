package edge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fiveways/test/brokertest"
	"fiveways/test/redisd"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// duel is the two servers.
type duel struct{ ours, theirs *peer }

func start(t *testing.T) duel {
	t.Helper()
	theirs := redisd.Start(t, redisd.Options{})
	ours := brokertest.Run(t, "--redis", "127.0.0.1:0").RedisAddr()
	return duel{&peer{t: t, addr: ours, conns: map[string]*conn{}}, &peer{t: t, addr: theirs, conns: map[string]*conn{}}}
}

// step has both do the same and tells whether their answers are the same. A line is the name of a connection and commands between semicolons, or
// something in quotes that is sent as it is.
func (d duel) step(t *testing.T, line string) bool {
	t.Helper()
	name, what, _ := strings.Cut(line, " ")
	raw := ""
	if strings.HasPrefix(what, `"`) {
		var err error
		if raw, err = strconv.Unquote(what); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	} else {
		for command := range strings.SplitSeq(what, ";") {
			raw += encode(strings.Fields(command)...)
		}
	}
	ours, theirs := same(what, d.ours.say(name, raw)), same(what, d.theirs.say(name, raw))
	if ours != theirs {
		t.Errorf("%s\nours:   %s\nRedis's: %s", line, ours, theirs)
	}
	return ours == theirs
}

// TestScripts plays the scripts of testdata. Connections last as long as a script.
func TestScripts(t *testing.T) {
	d := start(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					d.step(t, line)
				}
			}
			d.ours.close()
			d.theirs.close()
		})
	}
}

// sequences is how many random ones are played, REDIS_EDGE_SEQUENCES says otherwise. Each has fewer than thirty steps.
const sequences = 300

// TestRandom has three connections say things at random.
func TestRandom(t *testing.T) {
	d := start(t)
	n := sequences
	if text := os.Getenv("REDIS_EDGE_SEQUENCES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(1, uint64(seed)))
		var lines []string
		for range 5 + rng.IntN(25) {
			lines = append(lines, randomStep(rng))
			if !d.step(t, lines[len(lines)-1]) {
				t.Fatalf("sequence %d:\n%s", seed, strings.Join(lines, "\n"))
			}
		}
		d.ours.close()
		d.theirs.close()
	}
}

func randomStep(rng *rand.Rand) string {
	name := fmt.Sprint("c", rng.IntN(3))
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
		return "SUBSCRIBE " + channel() + " " + channel()
	case 3, 4:
		return "PSUBSCRIBE " + pattern()
	case 5:
		return "UNSUBSCRIBE " + channel()
	case 6:
		return "PUNSUBSCRIBE " + pattern()
	case 7:
		return pick(rng, "UNSUBSCRIBE", "PUNSUBSCRIBE")
	case 8, 9, 10, 11:
		return "PUBLISH " + channel() + " " + fmt.Sprint(rng.IntN(100))
	case 12:
		return pick(rng, "PUBSUB NUMPAT", "PUBSUB NUMSUB a b ab", "PUBSUB CHANNELS", "PUBSUB CHANNELS a*")
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
