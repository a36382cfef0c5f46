package streams

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways/test/redisd"
)

var (
	sequences = flag.Int("sequences", 150, "random scripts to run")
	length    = flag.Int("length", 60, "commands of each")
	firstSeed = flag.Uint64("seed", 1, "of the first script")
)

// Random scripts have the same replies from both, in both versions of the protocol.
func TestRandomStreams(t *testing.T) {
	// Nodes that end after a number of bytes would be trimmed elsewhere.
	redis := dial(t, redisd.Start(t, redisd.Options{Settings: []string{"--stream-node-max-bytes", "0"}}))
	ours := dial(t, serve(t))
	for i := range uint64(*sequences) {
		seed := *firstSeed + i
		s := &script{Rand: rand.New(rand.NewPCG(seed, 0)), prefix: fmt.Sprintf("s%d:", seed), top: 1}
		for _, p := range []*peer{redis, ours} {
			p.given, p.names = nil, map[string]string{} // two streams may get one id from the clock
		}
		if i%20 == 0 {
			version := []string{"HELLO", fmt.Sprint(2 + i/20%2)}
			redis.do(version)
			ours.do(version)
		}
		var log []string
		for range *length {
			args := s.next()
			log = append(log, fmt.Sprintf("%q", args))
			want, got := redis.do(args), ours.do(args)
			if want != got {
				t.Fatalf("seed %d: %s\n redis: %s\n ours:  %s", seed, strings.Join(log, "\n"), want, got)
			}
			s.clock = len(redis.given)
			log = append(log, "    "+want)
		}
	}
}

// scripts are what random commands seldom come to. A line is a command in words.
var scripts = []string{
	`XADD max 18446744073709551615-18446744073709551614 f v
	 XADD max 18446744073709551615-* f v
	 XADD max * f v
	 XADD max 18446744073709551615-18446744073709551615 f v
	 XRANGE max (18446744073709551615-18446744073709551615 +
	 XREVRANGE max (0-0 -
	 XREAD STREAMS max 18446744073709551615-18446744073709551615
	 XADD new 0-0 f v
	 XADD new 0-* f v
	 XADD new 18446744073709551616-1 f v`,
	`LPUSH k v
	 XADD k 1-1 f v
	 XLEN k
	 XREAD STREAMS k 0
	 XREADGROUP GROUP g c STREAMS none k > x
	 XGROUP CREATE k g $ MKSTREAM
	 RPOP k
	 XLEN k
	 XGROUP CREATE k g $
	 XADD k 1-1 f v
	 TYPE k
	 LPUSH k v
	 LLEN k
	 RPOP k
	 XDEL k 1-1
	 EXISTS k
	 XINFO STREAM k
	 DEL k
	 EXISTS k
	 XINFO STREAM k
	 LPUSH k v
	 TYPE k`,
	`MULTI
	 XADD m 1-1 f v
	 XGROUP CREATE m g 0
	 XREADGROUP GROUP g c BLOCK 0 STREAMS m >
	 XREADGROUP GROUP g c BLOCK 0 STREAMS m >
	 XREADGROUP GROUP g c STREAMS m m 0 >
	 XACK m g 1-1
	 DEL m
	 XLEN m
	 XREADGROUP GROUP g c STREAMS m >
	 EXEC
	 EXISTS m
	 XGROUP HELP
	 XINFO HELP
	 XGROUP nonsense m g
	 XINFO STREAM
	 XADD m 1-1 f
	 XREAD COUNT 1 STREAMS
	 XREAD BLOCK -1 STREAMS m 0
	 XREAD BLOCK x STREAMS m 0
	 XREAD GROUP g c STREAMS m 0
	 XREADGROUP GROUP g c STREAMS m $`,
}

// The scripts have the same replies from both, in both versions of the protocol.
func TestScripts(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		redis, ours := dial(t, redisd.Start(t, redisd.Options{})), dial(t, serve(t))
		for _, p := range []*peer{redis, ours} {
			p.do([]string{"HELLO", version})
		}
		for _, s := range scripts {
			for line := range strings.Lines(s) {
				args := strings.Fields(line)
				if want, got := redis.do(args), ours.do(args); want != got {
					t.Errorf("%s\n redis: %s\n ours:  %s", args, want, got)
				}
			}
		}
	}
}
