// Package deadletter decides how a message that is dead-lettered is forwarded: what RabbitMQ's
// x-death headers say of it, which queues it must not go to again, and in which order messages wait
// that no target has taken yet.
//
// It is pure: no I/O, no clock, no goroutines. Times are unix ms that the caller gives. The shard
// of the queue in which the messages died owns its Backlog, publishes what Rewrite returns, and
// settles the original once the targets have their copies.
//
// # Invariants
//
//   - A message that was dead-lettered from a queue, and was never rejected since, does not go
//     there again: that would be an endless cycle.
//   - Messages with the same routing key leave a Backlog in the order of the queue. So one that
//     fails holds up only those behind it with its own key.
package deadletter
