package backend

import "sync/atomic"

// mapped is how many bytes newRegion gave out and freeRegion did not get back.
var mapped atomic.Int64

// newRegion returns size zero bytes that the collector neither scans nor counts.
func newRegion(size int) []byte {
	mapped.Add(int64(size))
	return mapRegion(size)
}

// freeRegion gives back what newRegion returned.
func freeRegion(mem []byte) {
	mapped.Add(-int64(len(mem)))
	unmapRegion(mem)
}
