// Package tracing tracks the messages of a shard that carry a trace (W3C Trace Context): it reports
// when such a message enters a queue, and when it is delivered and how long it was in the queue.
//
// A Tracker belongs to its shard. It remembers a bounded number of undelivered messages. For
// messages beyond that, it does not know the time of arrival.
package tracing
