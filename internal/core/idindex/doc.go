// Package idindex finds messages by their message-ids.
//
// An Index has an entry for each message that was added. It is not told when a message is removed:
// the caller reports whether the message of an entry is gone. Entries of gone messages are freed a
// few at a time as others are added (Clean), or once many have accumulated (Tidy).
//
// Invariants:
//
//   - Entries of one id are found from the newest to the oldest.
//   - An index that cleans twice as many buckets as it adds messages never holds more entries of
//     gone messages than of live ones.
package idindex
