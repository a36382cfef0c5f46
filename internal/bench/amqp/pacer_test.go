package amqp

import (
	"testing"
	"time"
)

func TestPacerKeepsItsTimetable(t *testing.T) {
	p := pacer{perSecond: 1000}
	if n := p.due(0, 64); n != 1 {
		t.Fatalf("at the start %d are due, want 1", n)
	}
	p.sent++
	if n := p.due(900*time.Microsecond, 64); n != 0 {
		t.Fatalf("before the next one %d are due", n)
	}
	if got := p.next(); got != time.Millisecond {
		t.Fatalf("next at %v", got)
	}
	// After a stall of half a second all missed messages are due, in portions of the limit, each
	// with its own due time.
	if n := p.due(500*time.Millisecond, 64); n != 64 {
		t.Fatalf("after a stall %d, want the limit", n)
	}
	if n := p.due(500*time.Millisecond, 10_000); n != 500 {
		t.Fatalf("after a stall %d are due, want 500", n)
	}
	if at := p.at(p.sent + 99); at != 100*time.Millisecond {
		t.Fatalf("message 100 was due at %v", at)
	}
}

func TestPacerNeverDriftsFromTheRate(t *testing.T) {
	p := pacer{perSecond: 33_333}
	const step = 731 * time.Microsecond
	end := time.Duration(0)
	for end < 10*time.Second {
		end += step
		p.sent += uint64(p.due(end, 1<<20))
	}
	want := end.Seconds() * p.perSecond
	if diff := float64(p.sent) - want; diff < 0 || diff > 1 {
		t.Fatalf("sent %d in %v, want %.1f", p.sent, end, want)
	}
}
