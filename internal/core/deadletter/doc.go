// Package deadletter decides how a message that is dead-lettered is forwarded: the contents of its
// x-death headers (as in RabbitMQ), the queues it must not go to again, and the order in which
// messages wait that have not been accepted.
//
// It is pure: no I/O, no clock, no goroutines. The caller supplies times in unix ms. The shard of
// the queue in which the messages died owns its Backlog, publishes what Rewrite returns, and
// settles the original once the targets have their copies.
//
// # Invariants
//
//   - A message that was dead-lettered from a queue, and was never rejected since, does not go
//     there again: that would be an endless cycle.
//   - Messages with the same routing key leave a Backlog in the order of the queue. So a
//     failed message holds up only later ones with the same key.
package deadletter
