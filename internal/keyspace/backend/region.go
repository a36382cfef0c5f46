package backend

import "sync/atomic"

// mapped is the number of bytes allocated by newRegion and not yet freed by freeRegion.
var mapped atomic.Int64

// newRegion returns size zero bytes that the garbage collector neither scans nor counts.
func newRegion(size int) []byte {
	mapped.Add(int64(size))
	return mapRegion(size)
}

// freeRegion frees memory that newRegion returned.
func freeRegion(mem []byte) {
	mapped.Add(-int64(len(mem)))
	unmapRegion(mem)
}
