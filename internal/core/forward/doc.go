// Package forward reads what RabbitMQ's headers ask of a message that the engine sends on by
// itself: out of an exchange buffer, as a dead letter, or as a message of the server.
//
// The headers are CC (further routing keys) and x-delay (how long a delayed exchange keeps the
// message). The package is pure: no I/O, no clock, no goroutines, and it owns nothing: it reads
// envelopes and returns new ones.
//
// # Invariant
//
// A Message says the same of an envelope at any time. So what is decided by it can be decided again
// when the engine comes back to the message.
package forward
