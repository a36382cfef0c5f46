// Package dispatch decides which consumer of a queue gets the next message.
//
// Consumers holds the consumers of one queue and decides whose turn it is: by priority, then round
// robin, or always the same one (Single). A Limit bounds the deliveries of several consumers
// together, whatever their queues and shards; a Window bounds the deliveries to one connection. If
// messages have groups or consumers have selectors, not every message may go to every consumer.
// Then a Selective chooses, and sets aside messages that no consumer can take now.
//
// # What it owns
//
// The turns of consumers, how many unsettled deliveries each has, and which messages are set aside.
// All of this belongs to the queue's shard, which is the Loop of this package; a Limit and a Window
// may be used by any goroutine. The messages belong to the queue (core/queue): a Selective lends
// and parks them through its Source, and changes no durable state. There is no I/O, no clock, no
// goroutine.
//
// # One pass over a queue
//
// Consumers.Begin, then Next and Delivered for each message until Next is nil, or
// Selective.Dispatch in place of these, then Consumers.End. Returned frees the room when deliveries
// are settled or returned.
//
// # Invariants
//
//   - No consumer with room waits while another one of its priority is served twice.
//   - A consumer gets the first message in queue order that it is allowed to have.
//   - While messages of a group are unacked, only the consumer that has them gets more of the
//     group.
//   - Consumers without room cost a message nothing.
package dispatch
