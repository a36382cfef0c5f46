// Package wal is the format of the log: segment files of frames, byte for byte as
// docs/format/log.md describes them.
//
// A segment is a header, frames and, once it is sealed, a footer frame with a sparse index and a
// trailer that points to the footer from the end of the file. A frame carries one entry of one
// shard. A frame with the flag Continued belongs to one group with the frames after it, up to the
// first one without the flag: recovery finds a group as a whole or not at all.
//
// Nothing here is concurrent and nothing decides when to write or sync; package store does. The
// numbers in this package are on disk: never renumber them. testdata/v1.seg pins the bytes.
package wal
