// Package streams has the commands of the Redis protocol about streams: XADD to XINFO.
//
// It owns their rows, their grammar, the form of their replies, and how the fields of an entry
// become a message (fields.go): other protocols publish to streams and consume from them. Streams
// and their consumer groups themselves are the engine's.
//
// Invariants:
//   - The fields of an entry come back as they were sent, whatever they are.
//   - What is wrong with the arguments is told in the order in which Redis looks: some of it only
//     when the stream, or the group, is there.
//   - XREAD and XREADGROUP wait only when no stream has anything, and never in a transaction.
package streams
