// Package job is what a queue knows of its jobs beside its messages: what may be done with an id in which state, which messages are leased, and
// which ids are remembered after their messages have gone.
//
// It is pure: no I/O, no clock, no goroutines. A Book belongs to one goroutine, the loop of the queue's shard.
package job
