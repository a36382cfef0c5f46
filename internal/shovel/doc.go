// Package shovel moves messages from a queue of one AMQP 0-9-1 broker to another broker, at least
// once.
//
// A message is acknowledged at the source when the target has confirmed it, and not before: what is
// under way when a connection breaks stays at the source and is moved again, so the target may get
// it twice. Nothing is kept between runs; to resume is to run again.
package shovel
