package monitor

import (
	"slices"
	"time"
)

// history holds the last samples of some values of one object. Samples are numbered by a clock,
// which many histories share.
type history struct {
	clock        *clock
	width, depth int      // number of values per sample, and maximum number of samples
	last         int      // number of the newest sample
	next         int      // position of the next sample
	values       []int64  // sample by sample, a ring buffer once there are depth of them; empty while all values are 0
	slow         *history // the same values for longer, with a slower clock; nil: none
}

func newHistory(k *kind, c *clock) *history {
	kept := k.kept
	if kept == Fine {
		kept = c.kept
	}
	return &history{clock: c, width: len(k.names), depth: depth(kept, c.every)}
}

// reach returns how far back samples go once there are depth of them.
func (h *history) reach() time.Duration { return time.Duration(h.depth-2) * h.clock.every }

// add appends the values of the clock's newest sample. It discards everything before a gap.
func (h *history) add(values []int64) {
	if h.slow != nil && h.slow.last != h.slow.clock.n {
		h.slow.add(values)
	}
	n := h.clock.n
	unused := h.last == n-1 && n > 1 && len(h.values) == 0
	if h.last != n-1 {
		h.values, h.next = h.values[:0], 0
	}
	h.last = n
	switch zero := !slices.ContainsFunc(values, func(v int64) bool { return v != 0 }); {
	case zero && len(h.values) == 0: // most of 100,000 queues may be unused
		return
	case unused:
		h.values, h.next = make([]int64, h.width, 2*h.width), 1
	}
	if len(h.values) < h.depth*h.width {
		h.values = append(h.values, values...)
	} else {
		copy(h.values[h.next*h.width:], values)
	}
	h.next = (h.next + 1) % h.depth
}

// len returns the number of samples.
func (h *history) len() int {
	if h == nil {
		return 0
	}
	return len(h.values) / h.width
}

// at returns value i of the sample back samples before the newest.
func (h *history) at(back, i int) int64 {
	place := (h.next - 1 - back + 2*h.depth) % h.depth
	return h.values[place*h.width+i]
}

// any reports whether one of the values of the newest sample, starting with value from, is not 0.
func (h *history) any(from int) bool {
	for i := from; h.len() > 0 && i < h.width; i++ {
		if h.at(0, i) != 0 {
			return true
		}
	}
	return false
}

// restarted reports whether a counter is lower than at the newest sample, because its object was
// deleted and created again under the same name.
func (h *history) restarted(counters []int64) bool {
	for i := 0; h.len() > 0 && i < h.width; i++ {
		if counters[i] < h.at(0, i) {
			return true
		}
	}
	return false
}

// keep raises the values starting with value from to those of the newest sample. They are sums that
// never fall: an amount that moved from one addend to another while they were read may be missing
// once.
func (h *history) keep(from int, values []int64) {
	for i := from; h.len() > 0 && i < h.width; i++ {
		values[i] = max(values[i], h.at(0, i))
	}
}
