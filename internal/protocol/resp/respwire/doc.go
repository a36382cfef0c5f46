// Package respwire is the codec of the Redis protocol, RESP2 and RESP3: it parses requests from a
// buffer and appends replies to one.
//
// It is pure: no I/O, no clock, no goroutines. A Parser remembers its position in an incomplete
// request, so that a large one is parsed once, however it arrives; the values that it returns are
// slices of the buffer. A Writer is a buffer and the version in which replies are written.
package respwire
