// Package shovel moves messages from a queue of one AMQP 0-9-1 broker to another broker, at least
// once.
//
// A message is acknowledged at the source only after the target has confirmed it. Messages that are
// unconfirmed when a connection breaks stay at the source and are moved again, so the target may
// get them twice. No state is kept between runs: running it again resumes.
package shovel
