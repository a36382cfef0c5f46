// Package histogram counts values in buckets whose bounds are powers of two:
// coarse, and cheap enough to observe every fsync. It is pure; the counters are
// atomic, so that any goroutine may observe and any other read.
package histogram
