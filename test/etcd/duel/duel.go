package duel

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"
)

// Duel is two servers that must give the same answers.
type Duel struct {
	t     testing.TB
	Peers [2]*Peer // the real one first
}

// New starts a duel, which ends with the test.
func New(t testing.TB, peers [2]*Peer) *Duel {
	t.Cleanup(peers[0].Close)
	t.Cleanup(peers[1].Close)
	return &Duel{t: t, Peers: peers}
}

// Revision returns the store's revision relative to the beginning of the script.
func (d *Duel) Revision() int { return int(d.Peers[0].told - d.Peers[0].base) }

// eventPatience is how long the events of both servers may take to become equal.
const eventPatience = 5 * time.Second

// Play runs steps on both servers, one after the other, and compares the answers. It stops at the
// first difference, reports it and returns false.
func (d *Duel) Play(name string, steps iter.Seq[Step]) (same bool) {
	d.t.Helper()
	if err := d.sweep(); err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	same = true
	var played []string
	for s := range steps {
		played = append(played, s.String())
		answers := d.both(func(p *Peer) string { return p.play(s) })
		if !alike(s, answers) {
			same = false
			d.t.Errorf("%s: the last of these differs:\n%s\n%s: %s\n%s: %s", name, last(played), d.Peers[0].Name, answers[0], d.Peers[1].Name, answers[1])
			break
		}
		if s.Verb == "settle" && !d.settle(name, played) {
			return false
		}
	}
	return same && d.settle(name, played)
}

// both calls do for both servers concurrently.
func (d *Duel) both(do func(*Peer) string) (answers [2]string) {
	var wg sync.WaitGroup
	for i, p := range d.Peers {
		wg.Go(func() { answers[i] = do(p) })
	}
	wg.Wait()
	return answers
}

// settle waits until all streams have received all events, and reports the streams whose events
// differ.
func (d *Duel) settle(name string, played []string) (same bool) {
	d.t.Helper()
	same = true
	d.both(func(p *Peer) string { p.catchUp(); return "" })
	for stream, a := range d.Peers[0].streams {
		b := d.Peers[1].streams[stream]
		if b == nil {
			continue // it could not be opened, which its step has reported
		}
		deadline := time.Now().Add(eventPatience)
		for a.text() != b.text() && time.Now().Before(deadline) {
			<-time.After(5 * time.Millisecond)
		}
		if x, y := a.text(), b.text(); x != y {
			same = false
			x, y = differing(x, y)
			d.t.Errorf("%s: stream %s told something else, after\n%s\n%s:\n%s\n%s:\n%s", name, stream, last(played), d.Peers[0].Name, x, d.Peers[1].Name, y)
		}
	}
	return same
}

// playedLines is the number of steps shown before the one that differs.
const playedLines = 40

func last(played []string) string {
	if extra := len(played) - playedLines; extra > 0 {
		played = append([]string{fmt.Sprintf("(%d steps before)", extra)}, played[extra:]...)
	}
	return "  " + strings.Join(played, "\n  ")
}

// differing removes the common beginning except for a few lines.
func differing(a, b string) (string, string) {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	n = max(0, n-3)
	return strings.Join(x[n:min(len(x), n+12)], ""), strings.Join(y[n:min(len(y), n+12)], "")
}
