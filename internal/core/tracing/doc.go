// Package tracing follows the messages of a shard that belong to a trace (W3C Trace Context), from
// when they come into a queue until they are handed out, and reports both.
//
// A Tracker belongs to its shard. It remembers a bounded number of messages that were not handed
// out yet; of others it does not know since when they are there.
package tracing
