// Package schedule lists, cancels and reschedules the messages that wait for their time, in a queue
// or in an exchange that holds messages.
//
// It keeps nothing. A Schedule reads the messages of the queue a bounded number at a time, so that
// the shard can do other work in between. A change is durable when the method returns.
package schedule
