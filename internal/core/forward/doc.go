// Package forward reads the headers that say how the engine forwards a message: out of an exchange
// buffer, as a dead letter, or as a message that the server publishes itself.
//
// The headers are CC (further routing keys) and x-delay (how long a delayed exchange keeps the
// message). The package is pure: no I/O, no clock, no goroutines. It owns nothing: it reads
// envelopes and returns new ones.
//
// # Invariant
//
// A Message always reads the same envelope the same way. So a decision based on it can be made
// again when the engine returns to the message.
package forward
