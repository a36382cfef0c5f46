// Package wal is the format of the log: segment files of frames, byte for byte as
// docs/format/log.md draws them.
//
// A segment is a header, frames and, once it is sealed, a footer frame with a sparse index and a
// trailer that finds it from the end. A frame carries one entry of one shard. Frames with the flag
// Continued belong together with the frames after them, up to the first without it: such a group is
// there as a whole or not at all.
//
// Nothing here is concurrent and nothing decides when to write or sync; package store does. The
// numbers in this package are on disk: never renumber them. testdata/v1.seg pins the bytes.
package wal
