// Package tracing follows the messages of a shard that carry a trace (W3C Trace Context): it
// reports when such a message comes into a queue, and when it is delivered and how long it was in
// the queue.
//
// A Tracker belongs to its shard. It remembers a bounded number of messages that were not delivered
// yet; of messages beyond that it does not know when they came.
package tracing
