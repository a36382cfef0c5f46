// Package messages serves the messages in queues over HTTP.
//
// For operators: browsing with conditions, single messages, moving and deleting them, redriving
// dead letters to the queues they came from, scheduled messages, and RabbitMQ's publish, get and
// purge. Operations on many messages run in the server as a task that can be inspected and stopped.
//
// For programs that can only use HTTP: publishing to a queue, and taking messages by a lease, by
// long poll or as a stream of events. A taken message is named by a token until it is acknowledged,
// requeued, or its lease ends (ADR 14).
//
// In listings a message is named by its position, an opaque ID that no other message of the broker
// ever has.
package messages
