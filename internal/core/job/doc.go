// Package job is the job ledger of a queue: what the queue remembers about its jobs apart from
// their messages. These are the leases of messages that workers have, and the ids that are
// remembered after their messages are gone. It also defines which operations a job in each state
// allows.
//
// It is pure: no I/O, no clock, no goroutines. A Ledger belongs to one goroutine, the loop of the
// queue's shard.
package job
