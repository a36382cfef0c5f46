// Package streams has the commands of the Redis protocol about streams: XADD to XINFO.
//
// It owns the descriptors, the grammar and the replies of these commands, and the conversion
// between the fields of an entry and a message (fields.go), since other protocols publish to
// streams and consume from them. Streams and their consumer groups belong to the engine.
//
// Invariants:
//
//   - The fields of an entry are returned as they were sent.
//   - Errors are checked in the order in which Redis checks them: some only if the stream or the
//     group exists.
//   - XREAD and XREADGROUP wait only if no stream has an entry for them, and never in a
//     transaction.
package streams
