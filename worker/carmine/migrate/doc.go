// Package migrate moves job queues from Carmine's keys in Redis into a Fiveways broker.
//
// A job is removed from Redis only when the broker has confirmed it, and only if it has not changed
// since it was read. A run that was interrupted anywhere can be repeated: job ids show what has
// arrived.
package migrate
