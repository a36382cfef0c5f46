package semaphore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// slots returns the tasks in the order of Scan.
func slots(s *State) (all []Task) {
	s.Scan(0, s.Len(), func(t Task) { all = append(all, t) })
	return all
}

// TestPutBack checks that undone changes leave every task in its slot.
func TestPutBack(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	s := New(Config{Active: 5})
	id := func() string { return fmt.Sprint([]string{"", "name"}[r.IntN(2)], r.IntN(3000)) }
	for range 2500 {
		s.Put(Task{ID: id(), Priority: float64(r.IntN(9)), Owner: r.Int64N(3), Lease: r.Int64N(2)})
	}
	for range 200 {
		before, hash := slots(s), s.Hash()
		var undo []func()
		for range r.IntN(50) {
			if r.IntN(3) == 0 {
				task, next := Task{ID: id(), Status: Status(r.IntN(3))}, s.NextSeq()
				was, there := s.Get(task.ID)
				s.Put(task)
				undo = append(undo, func() {
					if there {
						s.Put(was)
						return
					}
					s.Remove(task.ID)
					s.SetNextSeq(next)
				})
				continue
			}
			task := id()
			slot := s.Slot(task)
			if was, ok := s.Remove(task); ok {
				undo = append(undo, func() { s.PutBack(was, slot) })
			}
		}
		for _, fn := range slices.Backward(undo) {
			fn()
		}
		s.check()
		if !slices.Equal(slots(s), before) || s.Hash() != hash {
			t.Fatal("not as it was")
		}
		s.Remove(id())
	}
}
