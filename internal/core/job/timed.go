package job

// timed is a lease or a remembered id.
type timed interface {
	// end is when it ends, and the number in the order of those that end then.
	end() (until int64, number uint64)
	// place is where its place in the heap stands, + 1; 0: it is in none.
	place() *int
}

// timeHeap has what ends first on top.
type timeHeap[T timed] []T

func (h timeHeap[T]) Len() int { return len(h) }

func (h timeHeap[T]) Less(i, j int) bool {
	a, first := h[i].end()
	b, second := h[j].end()
	return a < b || a == b && first < second
}

func (h timeHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	*h[i].place(), *h[j].place() = i+1, j+1
}

func (h *timeHeap[T]) Push(x any) {
	one := x.(T)
	*h = append(*h, one)
	*one.place() = len(*h)
}

func (h *timeHeap[T]) Pop() any {
	var none T
	n := len(*h) - 1
	one := (*h)[n]
	(*h)[n] = none
	*h = (*h)[:n]
	*one.place() = 0
	return one
}

// passed is how many from place i of the heap down have a time that is over by now. It looks at few others.
func (h timeHeap[T]) passed(i int, now int64) int {
	if i >= len(h) {
		return 0
	}
	if until, _ := h[i].end(); until > now {
		return 0
	}
	return 1 + h.passed(2*i+1, now) + h.passed(2*i+2, now)
}
