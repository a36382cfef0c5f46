package oracle

import (
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

var (
	randomOps  = flag.Int("ops", 2000, "how many random operations TestRandom plays")
	randomSeed = flag.Uint64("seed", 1, "of the random operations; 0 takes one by the clock")
)

const (
	linesPerScript = 60
	randomAtOnce   = 12 // concurrent scripts: most of their time is waiting
	worthShrinking = 10 // differences to shrink; more are only counted
)

// TestRandom generates scripts, plays each to a RabbitMQ and to Fiveways, and fails with a script
// that is as short as possible if they answer differently.
func TestRandom(t *testing.T) {
	expected, err := expectedDifferences()
	if err != nil {
		t.Fatal(err)
	}
	r, err := startRabbit(t.TempDir())
	if errors.Is(err, errNoRabbit) {
		t.Skip(err, "- the random scripts need one")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	d := &duel{rabbit: r.addr, fiveways: brokertest.Run(t).Addr(), expected: expected}
	seed := *randomSeed
	if seed == 0 {
		seed = uint64(time.Now().Unix()) * 1000
	}
	start := time.Now()
	ops, differences := playRandom(t, d, seed)
	t.Logf("%d operations from seed %d in %.1f s, %d differences, those that do not come again included",
		ops, seed, time.Since(start).Seconds(), differences)
	if differences > worthShrinking {
		t.Errorf("%d differences, of which %d were looked at", differences, worthShrinking)
	}
}

// playRandom plays scripts until enough lines have been played.
func playRandom(t *testing.T, d *duel, seed uint64) (ops, differences int64) {
	var played, differ, next atomic.Int64
	var wg sync.WaitGroup
	for range randomAtOnce {
		wg.Go(func() {
			for played.Load() < int64(*randomOps) {
				n := seed + uint64(next.Add(1)) - 1
				script, v, err := d.random(n)
				played.Add(int64(v.line))
				switch {
				case err != nil:
					t.Errorf("seed %d: %v", n, err)
				case !v.same && differ.Add(1) <= worthShrinking:
					report(t, d, n, script, v)
				}
			}
		})
	}
	wg.Wait()
	return played.Load(), differ.Load()
}

// random generates one script and plays it to both brokers.
func (d *duel) random(seed uint64) (script []string, v verdict, err error) {
	script, rabbit, err := d.generate(seed, linesPerScript)
	if err != nil {
		return script, v, fmt.Errorf("rabbitmq: %w", err)
	}
	fiveways, err := d.playLines(d.fiveways, script)
	if err != nil {
		return script, v, fmt.Errorf("fiveways: %w", err)
	}
	return script, d.judge(script, rabbit, fiveways), nil
}

// report fails the test with the shortest script that shows the difference. A difference that is
// not reproducible is only logged: a busy machine can delay a process for longer than settle waits.
func report(t *testing.T, d *duel, seed uint64, script []string, v verdict) {
	t.Helper()
	small := d.shrink(script, v.kind)
	if small == nil {
		t.Logf("seed %d: a difference that does not come again, at line %d\n%s", seed, v.line+1, v.clash)
		return
	}
	t.Errorf("seed %d:\n%s\n\nfound as\n%s", seed, d.describe(small), v.clash)
}
