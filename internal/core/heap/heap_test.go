package heap

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type item struct{ key, index int }

type byKey struct{}

func (byKey) Before(a, b *item) bool    { return a.key < b.key }
func (byKey) Moved(it *item, index int) { it.index = index }

type numbers struct{ Untracked[int] }

func (numbers) Before(a, b int) bool { return a < b }

// TestTwin makes the same changes to a heap and to a sorted slice.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[*item, byKey]
		var twin []*item
		key := rapid.IntRange(-9, 9)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 3).Draw(t, "op"); {
			case op == 0 || len(twin) == 0:
				it := &item{key: key.Draw(t, "key")}
				twin = append(twin, it)
				h.Fix(it, it.index)
			case op == 1:
				it := rapid.SampledFrom(twin).Draw(t, "moved")
				it.key = key.Draw(t, "key")
				h.Fix(it, it.index)
			case op == 2:
				i := rapid.IntRange(0, len(twin)-1).Draw(t, "removed")
				h.Remove(twin[i].index)
				twin[i].gone(t)
				h.Remove(twin[i].index)
				twin = slices.Delete(twin, i, i+1)
			default:
				first := slices.MinFunc(twin, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
				got := h.Pop()
				if got.key != first.key {
					t.Fatalf("%d comes first, not %d", got.key, first.key)
				}
				got.gone(t)
				twin = slices.DeleteFunc(twin, func(it *item) bool { return it == got })
			}
			if len(h) != len(twin) {
				t.Fatalf("%d values instead of %d", len(h), len(twin))
			}
			for i, it := range h {
				if it.index != i+1 || h[0].key > it.key {
					t.Fatalf("%+v at %d, and %+v first", *it, i, *h[0])
				}
			}
		}
	})
}

func (it *item) gone(t *rapid.T) {
	if it.index != 0 {
		t.Fatalf("%+v has left", *it)
	}
}

func TestUntracked(t *testing.T) {
	var h Heap[int, numbers]
	for _, v := range []int{5, 3, 8, 1, 9, 2, 7, 3} {
		h.Push(v)
	}
	var all []int
	for len(h) > 0 {
		all = append(all, h.Pop())
	}
	if !slices.Equal(all, []int{1, 2, 3, 3, 5, 7, 8, 9}) {
		t.Error(all)
	}
}
