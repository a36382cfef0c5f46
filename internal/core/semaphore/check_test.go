package semaphore

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestGrowsAndShrinks fills a state in several orders, empties it in others, and checks its parts
// on the way. All memory must be returned.
func TestGrowsAndShrinks(t *testing.T) {
	const n = 30_000
	id := func(i int) string {
		if i%3 == 0 {
			return fmt.Sprint("text ", i)
		}
		return fmt.Sprint(i)
	}
	inOrder := func(i int) int { return i }
	backward := func(i int) int { return n - 1 - i }
	perm := rand.New(rand.NewPCG(1, 0)).Perm(n)
	shuffled := func(i int) int { return perm[i] }
	for name, c := range map[string]struct{ in, priority, out func(int) int }{
		"rising, taken from the front":   {inOrder, inOrder, backward},
		"falling, taken from the front":  {inOrder, backward, inOrder},
		"equal, taken in order":          {inOrder, func(int) int { return 0 }, inOrder},
		"equal, taken from the back":     {inOrder, func(int) int { return 0 }, backward},
		"by chance":                      {inOrder, shuffled, shuffled},
		"by chance, taken from the back": {shuffled, shuffled, inOrder},
		"few priorities":                 {inOrder, func(i int) int { return i % 7 }, shuffled},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{Active: 1000, TryRelease: 900})
			for i := range n {
				task := Task{ID: id(c.in(i)), Priority: float64(c.priority(i)), Status: Status(i % 3)}
				if i%5 == 0 {
					task.Owner, task.Lease, task.Until = int64(i%50), int64(i%2), int64(n-i)
				}
				s.Put(task)
				if i%2000 == 0 {
					s.check()
				}
			}
			s.check()
			t.Logf("%d bytes a task, %.0f%% of the leaves filled", s.Bytes()/n, 100*n/float64(maxItems*s.tree.leaves))
			for i := range n {
				if _, ok := s.Remove(id(c.out(i))); !ok {
					t.Fatalf("%s is not there", id(c.out(i)))
				}
				if i%2000 == 0 || i > n-100 {
					s.check()
				}
				if left := n - i - 1; left == n/10 && s.Bytes() > 200_000+250*int64(left) {
					t.Errorf("%d bytes for %d tasks", s.Bytes(), left)
				}
			}
			if s.Bytes() > 8000 || s.tree.leaves != 1 || s.tree.inner != 0 {
				t.Errorf("%d bytes, %d leaves and %d inner nodes for nothing", s.Bytes(), s.tree.leaves, s.tree.inner)
			}
		})
	}
}

func TestRanksSortAsPriorities(t *testing.T) {
	priorities := []float64{-1.7e308, -5, -0.5, -5e-324, 0, 5e-324, 0.5, 5, 1.7e308}
	for i, p := range priorities {
		for _, ascending := range []bool{false, true} {
			if got := priorityOf(rankOf(p, ascending), ascending); got != p {
				t.Errorf("%v comes back as %v", p, got)
			}
			if i > 0 && (rankOf(priorities[i-1], ascending) < rankOf(p, ascending)) != ascending {
				t.Errorf("%v and %v, ascending %v, are in the wrong order", priorities[i-1], p, ascending)
			}
		}
	}
}

func TestOnlyNumbersAreKeptAsNumbers(t *testing.T) {
	for id, text := range map[string]bool{"0": false, "7": false, "-7": false, "9223372036854775807": false, "-9223372036854775808": false,
		"": true, "-": true, "00": true, "-0": true, "+1": true, "01": true, "-01": true, " 1": true, "1 ": true, "1_0": true, "0x1": true, "9223372036854775808": true,
		"-9223372036854775809": true, "１": true, "task": true} {
		if got := nameOf(id); got.isText != text {
			t.Errorf("%q is kept as text: %v", id, got.isText)
		}
		s := New(Config{})
		s.Put(Task{ID: id})
		if got, ok := s.Get(id); !ok || got.ID != id {
			t.Errorf("%q is kept as %q", id, got.ID)
		}
	}
}
