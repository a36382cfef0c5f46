package queue

// heapKind is the order of a heap of chunks.
type heapKind int

const (
	byExpiry heapKind = iota // lower bound of Expires over all messages except unacked ones
	byDue                    // lower bound of Due over scheduled messages
	byBase                   // position in the lane
	heapKinds
)

// chunkHeap is a binary min-heap of chunks by key[kind]. A chunk knows its index, so it can be
// moved and removed.
type chunkHeap []*chunk

func (c *chunk) before(d *chunk, k heapKind) bool {
	if c.key[k] != d.key[k] {
		return c.key[k] < d.key[k]
	}
	if c.lane != d.lane {
		return c.lane.priority > d.lane.priority
	}
	return c.base < d.base
}

// topKey returns the smallest key, never if the heap is empty.
func (h chunkHeap) topKey(k heapKind) int64 {
	if len(h) == 0 {
		return never
	}
	return h[0].key[k]
}

// fix moves c to the place of its key. It adds c if it is not in the heap.
func (h *chunkHeap) fix(c *chunk, k heapKind) {
	if c.pos[k] == 0 {
		*h = append(*h, c)
		c.pos[k] = int32(len(*h))
	}
	h.up(int(c.pos[k])-1, k)
	h.down(int(c.pos[k])-1, k)
}

// remove removes c. It does nothing if c is not in the heap.
func (h *chunkHeap) remove(c *chunk, k heapKind) {
	if c.pos[k] == 0 {
		return
	}
	i, n := int(c.pos[k])-1, len(*h)-1
	h.swap(i, n, k)
	(*h)[n] = nil
	*h = (*h)[:n]
	c.pos[k] = 0
	if i < n {
		moved := (*h)[i]
		h.up(i, k)
		h.down(int(moved.pos[k])-1, k)
	}
}

func (h chunkHeap) swap(i, j int, k heapKind) {
	h[i], h[j] = h[j], h[i]
	h[i].pos[k], h[j].pos[k] = int32(i+1), int32(j+1)
}

func (h chunkHeap) up(i int, k heapKind) {
	for i > 0 {
		p := (i - 1) / 2
		if !h[i].before(h[p], k) {
			return
		}
		h.swap(i, p, k)
		i = p
	}
}

func (h chunkHeap) down(i int, k heapKind) {
	for {
		m := 2*i + 1
		if m >= len(h) {
			return
		}
		if m+1 < len(h) && h[m+1].before(h[m], k) {
			m++
		}
		if !h[m].before(h[i], k) {
			return
		}
		h.swap(i, m, k)
		i = m
	}
}
