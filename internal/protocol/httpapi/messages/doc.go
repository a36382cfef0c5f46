// Package messages serves what is in queues, over HTTP.
//
// For operators: browsing with conditions, single messages, moving and deleting them, redriving dead letters to where they died, those that wait
// for their time, and RabbitMQ's publish, get and purge. What moves many messages runs in the server as a task that can be looked at and stopped.
//
// For programs that have nothing but HTTP: publishing to a queue, and taking messages by a lease, by long poll or as a stream of events. A message
// that was taken is named by a token until it is acknowledged, given back, or its lease is over (ADR 14).
//
// In listings a message is named by its place, an opaque id which no other message of the broker ever has.
package messages
