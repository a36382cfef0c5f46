package byid

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

type element struct{ id string }

func (e *element) ID() string { return e.id }

// TestStack compares a stack with a plain slice.
func TestStack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Stack[*element]
	var want []*element
	for range 20_000 {
		switch n := rng.IntN(100); {
		case n < 50:
			e := &element{fmt.Sprint(rng.IntN(20))}
			s.Push(e)
			want = append(want, e)
		case n < 85 && len(want) > 0:
			s.Pop()
			want = want[:len(want)-1]
		case n == 99:
			s.Clear()
			want = nil
		default:
			id := fmt.Sprint(rng.IntN(20))
			var with []*element
			for _, e := range slices.Backward(want) {
				if e.id == id {
					with = append(with, e)
				}
			}
			if got := slices.Collect(s.With(id)); !slices.Equal(got, with) {
				t.Fatalf("%d elements with %s, want %d", len(got), id, len(with))
			}
		}
		if s.Len() != len(want) || !slices.Equal(s.All(), want) {
			t.Fatalf("%d elements, want %d", s.Len(), len(want))
		}
	}
}
