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
