// Package job is the job ledger of a queue: what the queue stores about its jobs apart from their
// messages, namely the leases of messages that workers hold, and ids that are remembered after
// their messages are gone. It also defines which operations each state of a job allows.
//
// It is pure: no I/O, no clock, no goroutines. A Ledger belongs to one goroutine, the loop of the
// queue's shard.
package job
