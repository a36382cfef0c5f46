package amqp

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWindowSettlesEachMessageOnce(t *testing.T) {
	w := newWindow(4)
	if n := w.acquire(10); n != 4 {
		t.Fatalf("acquired %d of a window of 4", n)
	}
	w.sent([]time.Duration{10, 20, 30, 40})
	for _, step := range []struct {
		name          string
		tag           uint64
		multiple, ack bool
		now           time.Duration
		answered      int
		low           uint64
	}{
		{"one in the middle", 2, false, true, 100, 1, 1},
		{"a refusal", 3, false, false, 100, 1, 1},
		{"the rest", 4, true, true, 200, 2, 5},
		{"one answered before", 4, false, true, 300, 0, 5},
		{"one never sent", 5, false, true, 300, 0, 5},
	} {
		if n := w.settle(step.tag, step.multiple, step.ack, step.now); n != step.answered || w.low != step.low {
			t.Errorf("%s: %d answered, oldest open %d; want %d and %d", step.name, n, w.low, step.answered, step.low)
		}
	}
	if w.nacked != 1 || w.latency.Count() != 3 || w.latency.Max() != 190 {
		t.Errorf("nacked %d, confirmed %d, slowest %v", w.nacked, w.latency.Count(), w.latency.Max())
	}
}

func TestWindowHoldsThePublisherBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWindow(2)
		w.sent(make([]time.Duration, w.acquire(2)))
		got := make(chan int, 1)
		go func() { got <- w.acquire(2) }()
		synctest.Wait()
		if len(got) != 0 {
			t.Fatal("a full window let a message through")
		}
		w.settle(1, false, true, 0)
		if n := <-got; n != 1 {
			t.Fatalf("one confirm made room for %d", n)
		}
		w.sent(make([]time.Duration, 1))
		go func() { got <- w.acquire(1) }()
		synctest.Wait()
		w.close()
		if n := <-got; n != 0 {
			t.Fatalf("a closed window gave %d", n)
		}
	})
}
