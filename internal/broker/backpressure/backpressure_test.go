package backpressure

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := false
		g := NewGate(func() bool { return over })
		g.Await() // there is room
		over = true
		passed := 0
		wait := func() {
			go func() { g.Await(); passed++ }()
			synctest.Wait()
		}
		wait()
		g.Relieve() // still no room
		synctest.Wait()
		if passed != 0 {
			t.Fatal("a publisher passed while there was no room")
		}
		over = false
		g.Relieve()
		synctest.Wait()
		if passed != 1 {
			t.Fatal("a publisher waits while there is room")
		}
		over = true
		wait()
		g.Close()
		synctest.Wait()
		wait()
		if passed != 3 {
			t.Fatalf("%d publishers passed a closed gate, want all 3", passed)
		}
	})
}

func TestPace(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		why                  string
		published, handedOut uint64
		bytes                int64
		consumed             bool
		hold                 time.Duration
	}{
		{"consumers that nearly keep up", 8192, 4096, 2 * mb, true, time.Millisecond},
		{"a long backlog", 8192, 4096, 500 * mb, true, paceMax},
		{"a short backlog", 8192, 4096, mb, true, 0},
		{"slow consumers", 8192, 1024, 2 * mb, true, 0},
		{"no consumers", 8192, 4096, 2 * mb, false, 0},
		{"not measured yet", 1000, 1000, 2 * mb, true, 0},
	} {
		var p Pace
		p.Update(c.published, c.handedOut, c.bytes, c.consumed)
		if got := time.Duration(p.Hold()); got != c.hold {
			t.Errorf("%s: a publisher waits %v, want %v", c.why, got, c.hold)
		}
	}
}
