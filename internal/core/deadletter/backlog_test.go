package deadletter

import (
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// due takes the messages that are due, at most this many, as "handle", or "handle?" if the key is
// unknown.
func due(b *Backlog, now int64, most int) (got []string) {
	for w, row := range b.Due(now, func() bool { return len(got) < most }) {
		s := fmt.Sprint(w.Handle)
		if !row {
			s += "?"
		}
		got = append(got, s)
	}
	return got
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestBackoff checks that a failed message is retried after a second, then after twice the time, up
// to half a minute, and that a success resets the wait.
func TestBackoff(t *testing.T) {
	b, now := NewBacklog(nil), int64(1000)
	b.Failed("k", Waiting{Handle: 1}, now)
	for _, wait := range []int64{1000, 2000, 4000, 8000, 16_000, 30_000, 30_000} {
		b.Tidy()
		if b.At() != now+wait {
			t.Fatalf("at %d, want %d", b.At(), now+wait)
		}
		same(t, "too early", due(b, b.At()-1, 9))
		now = b.At()
		same(t, "due", due(b, now, 9), "1")
		b.Sent("k")
		b.Answered("k")
		b.Failed("k", Waiting{Handle: 1}, now)
	}
	b.Arrived("k")
	now += 30_000
	b.Failed("k", Waiting{Handle: 2}, now)
	if b.Tidy(); b.At() != now+1000 {
		t.Errorf("after an arrival: in %d ms", b.At()-now)
	}
	b.Hasten()
	same(t, "hastened", due(b, now, 9), "1", "2")
}

// TestRows checks that a row sends in queue order, window messages at a time, and does not hold up
// another row.
func TestRows(t *testing.T) {
	b := NewBacklog(nil)
	for h := queue.Handle(window + 2); h > 0; h-- {
		b.Add("k", Waiting{Handle: h})
	}
	var want []string
	for h := range window {
		want = append(want, fmt.Sprint(h+1))
		b.rows["k"].underWay = h
		same(t, "one", due(b, 0, 1), want[h])
	}
	b.rows["k"].underWay = window
	same(t, "the window is full", due(b, 0, 1))
	b.Add("other", Waiting{Handle: 500})
	same(t, "another key", due(b, 0, 9), "500")
	if !b.Waits("k") || b.Waits("other") || b.Waits("none") {
		t.Error("who waits is wrong")
	}
	b.Tidy()
	if b.Empty() {
		t.Error("empty with messages that wait")
	}
	b.Answered("k")
	same(t, "room again", due(b, 0, 9), fmt.Sprint(window+1), fmt.Sprint(window+2))
	b.rows["k"].underWay = 0
	b.Tidy()
	if !b.Empty() {
		t.Errorf("%d rows are left", len(b.rows))
	}
}

// TestRecovered checks that messages that were dead at the start are due at once, in order, and
// count as recorded until they are settled.
func TestRecovered(t *testing.T) {
	b := NewBacklog([]Waiting{{Handle: 3}, {Handle: 7}})
	if b.At() != 0 || b.Held() != 2 {
		t.Errorf("at %d, %d held", b.At(), b.Held())
	}
	same(t, "one", due(b, 0, 1), "3?")
	same(t, "the others", due(b, 0, 9), "7?")
	b.Hold()
	for range 3 {
		if b.Tidy(); b.Empty() {
			t.Error("empty with messages that are recorded as dead")
		}
		b.Unhold()
	}
	if !b.Empty() {
		t.Error("not empty")
	}
}
