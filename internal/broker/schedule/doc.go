// Package schedule lists the messages that wait for their time in a queue, or in an exchange that
// holds messages, cancels them, and gives them another time.
//
// It keeps nothing: a Schedule reads the messages of the queue, a bounded number at a time, so that
// the shard does other things in between. Changes are durable when the method returns.
package schedule
