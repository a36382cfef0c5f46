// Package idindex finds messages by their message-ids.
//
// An Index owns an entry for each message that was added. It is not told when a message goes: the
// caller says of an entry whether its message is gone, and such entries are freed and used again
// little by little, as others come (Clean), or when many have gathered (Tidied).
//
// Invariants: entries of one id are found from the youngest to the oldest; an index with twice as
// many cleaned buckets as added messages never holds more entries of gone messages than of live
// ones.
package idindex
