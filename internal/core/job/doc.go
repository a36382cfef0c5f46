// Package job is what a queue knows about its jobs apart from its messages: the allowed operations
// per state of an id, the leased messages, and the ids remembered after their messages are gone.
//
// It is pure: no I/O, no clock, no goroutines. A Ledger belongs to one goroutine, the loop of the
// queue's shard.
package job
