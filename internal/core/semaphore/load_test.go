package semaphore

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestLoad compares a loaded state with one that kept its order all the time.
func TestLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, tasks := range []int{0, 1, 55, 56, 57, 64, 300, 2000, 60_000} {
		kept, loaded := New(Config{Active: 10, TryRelease: 5}), New(Config{Active: 10, TryRelease: 5})
		both := func(do func(s *State)) { do(kept); do(loaded) }
		change := func(n int) {
			id := fmt.Sprint(rng.IntN(n + 1))
			if rng.IntN(4) == 0 {
				id = "task-" + id
			}
			switch n := rng.IntN(10); {
			case n < 2:
				both(func(s *State) { s.Remove(id) })
			case n < 4:
				both(func(s *State) { s.SetStatus(id, Status(n%3), 5) })
			default:
				task := Task{ID: id, Priority: float64(rng.IntN(50)), Status: Status(n % 3), Lease: int64(n % 2)}
				both(func(s *State) { s.Put(task) })
			}
		}
		for range 2 { // the second time with existing tasks
			loaded.Load()
			for range tasks {
				change(tasks)
			}
			for st := Wait; st <= TryRelease; st++ {
				if kept.Count(st) != loaded.Count(st) {
					t.Errorf("%d tasks: %d in status %v, want %d", tasks, loaded.Count(st), st, kept.Count(st))
				}
			}
			loaded.Settle()
			loaded.check()
			if kept.Hash() != loaded.Hash() {
				t.Fatalf("%d tasks: another state", tasks)
			}
		}
		for range 1000 {
			change(tasks)
			a, okA := kept.Next()
			if b, okB := loaded.Next(); a != b || okA != okB {
				t.Fatalf("%d tasks: %v %v, want %v %v", tasks, b, okB, a, okA)
			}
		}
		loaded.check()
		if kept.Hash() != loaded.Hash() {
			t.Errorf("%d tasks: another state after changes", tasks)
		}
	}
}
