// Package deadletter knows how a message that died is sent on: what RabbitMQ's x-death headers say
// of it, to which queues it must not go again, and how those wait that nobody took yet.
//
// It is pure: no I/O, no clock, no goroutines. Times are unix ms that the caller gives. The shard
// of the queue where messages died owns its Backlog, publishes what Rewrite returns, and settles
// the original when its targets have the copy.
//
// # Invariants
//
//   - A message that died before in a queue, and was never rejected since, does not go there again:
//     such a circle would have no end.
//   - Messages with one routing key leave a Backlog in the order of the queue, so that one that
//     fails stands for those behind it, and other keys are not held up.
package deadletter
