// Package forward reads the headers that determine how the engine forwards a message: from an
// exchange buffer, as a dead letter, or as a message that the server itself publishes.
//
// The headers are CC (further routing keys) and x-delay (how long a delayed exchange holds the
// message). The package is pure: no I/O, no clock, no goroutines. It owns nothing: it reads
// envelopes and returns new ones.
//
// # Invariant
//
// A Message always reads the same envelope in the same way. So a decision based on it can be
// repeated when the engine returns to the message.
package forward
