// Package heap implements binary heaps of values that know their own index, so that they can be
// moved or removed, and of plain values.
package heap

// Order compares the values of a Heap and is told their indexes. Its zero value is used, except by
// the methods that take an Order.
type Order[T any] interface {
	// Before reports whether a goes before b.
	Before(a, b T) bool
	// Moved reports the new index of v, from 1; 0 means that v was removed.
	Moved(v T, index int)
}

// Untracked provides Moved for an Order whose values are only removed from the top.
type Untracked[T any] struct{}

// Moved implements Order.
func (Untracked[T]) Moved(T, int) {}

// Heap has the value that goes before all others at index 0. The zero value is empty.
//
// Invariant: the value at i-1 does not go before the one at (i/2)-1, and the last call of
// Order.Moved for it had index i.
type Heap[T any, O Order[T]] []T

// Push adds v.
func (h *Heap[T, O]) Push(v T) { h.Fix(v, 0) }

// Pop removes the first value; the heap must not be empty.
func (h *Heap[T, O]) Pop() T {
	first := (*h)[0]
	h.Remove(1)
	return first
}

// Fix moves v, which is at this index, to its right place. With index 0 it adds v.
func (h *Heap[T, O]) Fix(v T, index int) {
	var order O
	h.FixBy(order, v, index)
}

// FixBy is Fix with an order that is not the zero value. All calls for a heap must use the same
// order.
func (h *Heap[T, O]) FixBy(order O, v T, index int) {
	if index == 0 {
		*h = append(*h, v)
		h.up(order, len(*h)-1)
	} else if !h.down(order, index-1) {
		h.up(order, index-1)
	}
}

// Remove removes the value at this index. With index 0 it does nothing.
func (h *Heap[T, O]) Remove(index int) {
	var order O
	h.RemoveBy(order, index)
}

// RemoveBy is Remove with an order; see FixBy.
func (h *Heap[T, O]) RemoveBy(order O, index int) {
	if index == 0 {
		return
	}
	var none T
	all, n := *h, len(*h)-1
	gone, last := all[index-1], all[n]
	all[n] = none
	*h = all[:n]
	order.Moved(gone, 0)
	if index-1 < n {
		(*h)[index-1] = last
		h.FixBy(order, last, index)
	}
}

// up moves the value at i towards the top.
func (h Heap[T, O]) up(order O, i int) {
	v := h[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !order.Before(v, h[parent]) {
			break
		}
		h[i] = h[parent]
		order.Moved(h[i], i+1)
		i = parent
	}
	h[i] = v
	order.Moved(v, i+1)
}

// down moves the value at i away from the top, and reports whether it moved.
func (h Heap[T, O]) down(order O, i int) bool {
	start, v := i, h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && order.Before(h[child+1], h[child]) {
			child++
		}
		if !order.Before(h[child], v) {
			break
		}
		h[i] = h[child]
		order.Moved(h[i], i+1)
		i = child
	}
	if i == start {
		return false
	}
	h[i] = v
	order.Moved(v, i+1)
	return true
}
