// Package dispatch decides which consumer of a queue gets the next message.
//
// Consumers is those of one queue and whose turn it is: by priority, then in turn, or one alone
// (Single). A Limit bounds the deliveries of several consumers together, whichever queues and
// shards they are on; a Window bounds what one connection holds. Where not any message may go to
// any consumer, because messages have groups or consumers have selectors, a Selective chooses, and
// sets aside what no consumer may have now.
//
// # What it owns
//
// The turns of consumers, how many deliveries they have out, and which messages are set aside. All
// of that belongs to the queue's shard, which is known here as a Loop; a Limit and a Window may be
// used by any goroutine. The messages are the queue's (core/queue): a Selective lends and parks
// them by its Source, and changes nothing that is durable. There is no I/O, no clock, no goroutine.
//
// # A look at a queue
//
// Consumers.Begin, then Next and Delivered for each message until Next is nil, or
// Selective.Dispatch in place of these, then Consumers.End. Returned, when deliveries are over,
// gives the room back.
//
// # Invariants
//
//   - No consumer with room waits while another one of its priority is served twice.
//   - A consumer gets the first message in the order of the queue that may go to it.
//   - While messages of a group are out, only the consumer that has them gets more of it.
//   - Consumers without room cost a message nothing.
package dispatch
