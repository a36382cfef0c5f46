// Package histogram counts values in buckets whose bounds are powers of two: coarse, and cheap
// enough to observe every fsync. It is pure. The counters are atomic, so any goroutine may observe
// and any other may read.
package histogram
