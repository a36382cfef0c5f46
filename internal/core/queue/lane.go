package queue

import "sort"

// lane is one priority level: a row of chunks in order of base.
type lane struct {
	priority uint8
	next     uint64 // sequence number of the next message
	low      uint64 // the lowest one so far in a front lane (front.go), 1 in others

	row  []rowEntry // only row[head:] is used; the last entry is tail
	head int
	dead int // entries of row[head:] without a chunk
	tail *chunk

	// cur is the index in row of the delivery cursor: no chunk before it has a ready message unless
	// it is in returned. It may lag behind head.
	cur      int
	returned chunkHeap
	ready    int
}

type rowEntry struct {
	base  uint64
	chunk *chunk // nil once all its messages are gone
}

// lowerBound returns the index of the first entry at or after base, len(row) if there is none.
func (l *lane) lowerBound(base uint64) int {
	if l.head == len(l.row) {
		return l.head
	}
	first := l.row[l.head].base
	if base <= first {
		return l.head
	}
	n := len(l.row) - l.head
	if guess := (base - first) / chunkLen; guess < uint64(n) { // exact unless entries are missing
		if n = int(guess); l.row[l.head+n].base == base {
			return l.head + n
		}
	}
	return l.head + sort.Search(n, func(i int) bool { return l.row[l.head+i].base >= base })
}

// chunkAt returns the chunk that holds seq, or nil if there is none.
func (l *lane) chunkAt(seq uint64) *chunk {
	base := seq &^ (chunkLen - 1)
	if l.tail != nil && l.tail.base == base {
		return l.tail
	}
	if i := l.lowerBound(base); i < len(l.row) && l.row[i].base == base {
		return l.row[i].chunk
	}
	return nil
}

// headChunk returns the chunk with the first ready message; the lane must have one.
func (l *lane) headChunk() *chunk {
	for len(l.returned) > 0 {
		if c := l.returned[0]; c.ready > 0 {
			return c
		}
		l.returned.remove(l.returned[0], byBase)
	}
	for {
		if c := l.row[l.cur].chunk; c != nil && c.ready > 0 {
			return c
		}
		l.cur++
	}
}

// noteReady maintains the invariant of cur after a message of c became ready.
func (l *lane) noteReady(c *chunk) {
	if c.base < l.row[l.cur].base && c.pos[byBase] == 0 {
		l.returned.fix(c, byBase)
	}
}

// push appends a chunk to the row.
func (l *lane) push(c *chunk) {
	l.row = append(l.row, rowEntry{c.base, c})
	l.tail = c
}

// trim drops dead entries: those at the head at once, others when there are many. This changes
// indexes of row.
func (l *lane) trim() {
	for l.head < len(l.row) && l.row[l.head].chunk == nil {
		l.head++
		l.dead--
	}
	if l.head+l.dead <= len(l.row)/2+4 {
		return
	}
	cur, kept := 0, 0
	for i := l.head; i < len(l.row); i++ {
		if i == l.cur {
			cur = kept
		}
		if l.row[i].chunk != nil {
			l.row[kept] = l.row[i]
			kept++
		}
	}
	clear(l.row[kept:])
	l.row, l.head, l.dead, l.cur = l.row[:kept], 0, 0, cur
}
