// Package respwire is the codec of the Redis protocol, RESP2 and RESP3: requests out of a buffer,
// replies into one.
//
// It is pure: no I/O, no clock, no goroutines. A Parser keeps its place in a request that is not
// whole yet, so that a large one is looked at once however it arrives; what it returns are slices
// of the buffer. A Writer is a buffer and the version in which replies are written.
package respwire
