package job

import "fiveways.dev/fiveways/internal/core/heap"

// timed is a lease or a remembered id.
type timed interface {
	// end returns when it ends, and the number that orders those that end at the same time.
	end() (until int64, number uint64)
	// heapIndex returns a pointer to its index in the heap.
	heapIndex() *int
}

// timeHeap has the one that ends first on top.
type timeHeap[T timed] = heap.Heap[T, byEnd[T]]

type byEnd[T timed] struct{}

func (byEnd[T]) Before(a, b T) bool {
	until, number := a.end()
	other, second := b.end()
	return until < other || until == other && number < second
}

func (byEnd[T]) Moved(v T, index int) { *v.heapIndex() = index }

// passed returns how many entries of the heap, from index i down, have a time that has passed by
// now. It visits few others.
func passed[T timed](h timeHeap[T], i int, now int64) int {
	if i >= len(h) {
		return 0
	}
	if until, _ := h[i].end(); until > now {
		return 0
	}
	return 1 + passed(h, 2*i+1, now) + passed(h, 2*i+2, now)
}
