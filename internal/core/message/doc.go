// Package message holds a message as the engine stores it: one byte string, the [Envelope], with
// the exchange, the routing key, the property list and the body.
//
// The property list is that of AMQP 0-9-1 (section 4.2.6.1): a flag word, then the fields that the
// flags announce. It is kept exactly as the publisher sent it, so that a consumer receives the same
// bytes. Every protocol maps its own terms to it.
//
// There are three ways to read a property list, from cheap to complete. [PeekProperties] validates
// it in one pass without allocating, for the publish path. [HeaderLookup] finds one header in a raw
// table. [DecodeProperties] and [DecodeTable] decode everything.
//
// The package is pure: no I/O, no clock, no goroutines. The documentation of a function says if its
// result aliases its input; nothing here keeps its input.
package message
