// Package dependency keeps the order that messages ask for across queues (consume_after): each
// message may name others, by their message-ids, and is blocked while one of these is in any of the
// queues, whichever came first.
//
// A Graph is the queues of one virtual host on one shard; a Member is one of its queues. The shard
// owns both: it tells them of messages that come (Look, Arrive), come back (Block) and go (Went),
// and hears which are no longer blocked (Queue.Unblocked). They block and unblock messages in the
// deliveries of their queues, and change nothing else. There is no I/O, no clock, no goroutine.
//
// # What waits for what
//
// A message waits for all with an id that it names. Ids that name each other in a circle are the
// exception: among them a message waits for older ones and for those that name none, so messages
// never wait for each other in a circle (circles.go). A copy, that is, a dead letter or what a
// transaction moved on from one of these queues to another, names none.
//
// # Invariants
//
//   - All of this follows from the messages that are there and the order in which they came, so it
//     is not in the log: Recall finds it again.
//   - A message that waits is neither ready nor scheduled; while it is lent it is not blocked, but
//     when it comes back.
//   - What a message costs does not depend on how many others there are, but for those in circles.
package dependency
