package dispatch

import "testing"

func TestWindowWakesAtHalf(t *testing.T) {
	wakes := 0
	var w Window
	w.Init(func() { wakes++ })
	w.Add(WindowBytes - 1)
	if w.Full() {
		t.Fatal("full before the end")
	}
	w.Done(WindowBytes - 1)
	if wakes != 0 {
		t.Fatal("a wake without anybody waiting")
	}
	for round := 1; round <= 2; round++ {
		w.Add(WindowBytes)
		for range 2 { // as for two shards
			if !w.Full() {
				t.Fatal("not full")
			}
		}
		w.Done(WindowBytes/2 - 1)
		if wakes != round-1 {
			t.Fatal("a wake above half")
		}
		w.Done(1)
		if wakes != round {
			t.Fatalf("%d wakes at half, want %d", wakes, round)
		}
		w.Done(WindowBytes / 2)
	}
}
