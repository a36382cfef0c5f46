package list

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type number struct {
	n     int
	links Links[number]
}

func (n *number) Links() *Links[number] { return &n.links }

func numbers(l *List[number, *number]) (all []int) {
	for e := l.First(); e != nil; e = l.Next(e) {
		all = append(all, e.n)
	}
	return all
}

// TestList compares a list with a slice under random operations.
func TestList(t *testing.T) {
	var l List[number, *number]
	var want []int
	all := make([]number, 8)
	for i := range all {
		all[i].n = i
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		e := &all[r.IntN(len(all))]
		if e.links.In() {
			l.Remove(e)
			want = slices.DeleteFunc(want, func(n int) bool { return n == e.n })
		} else {
			l.Remove(e) // has no effect
			l.Add(e)
			want = append(want, e.n)
		}
		if got := numbers(&l); !slices.Equal(got, want) || l.Len() != len(want) {
			t.Fatalf("%v, %d elements, want %v", got, l.Len(), want)
		}
	}
}
