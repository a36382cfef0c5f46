// Package message holds a message as the engine stores it: one byte string, the [Envelope], that
// carries the exchange, the routing key, the property list and the body.
//
// The property list is the one of AMQP 0-9-1 (section 4.2.6.1): a flag word, then the fields that
// the flags announce. It is kept exactly as the publisher sent it, so that what a consumer receives
// is byte for byte what was published; every protocol maps its own words onto it.
//
// Three ways lead into a property list, from cheap to complete: [PeekProperties] validates it in
// one pass without allocating and is meant for the publish path; [HeaderLookup] finds one header in
// a raw table; [DecodeProperties] and [DecodeTable] decode everything.
//
// The package is pure: no I/O, no clock, no goroutines. Functions that return slices of their input
// say so; nothing here keeps its input.
package message
