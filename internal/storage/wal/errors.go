package wal

import "errors"

var (
	// ErrCorrupt means that bytes which were durable have changed. The message names file and
	// offset.
	ErrCorrupt = errors.New("wal: corrupt")
	// ErrUnsupportedFormat means that a newer version of the program wrote this: nothing is
	// damaged.
	ErrUnsupportedFormat = errors.New("wal: unsupported format version")
	// ErrUnknownKind means that a frame is intact but of a kind that this version does not know; it
	// cannot be skipped.
	ErrUnknownKind = errors.New("wal: unknown frame kind")
	// ErrBadFrame means that there is no intact frame at an offset: the log ends there or is
	// damaged there.
	ErrBadFrame = errors.New("wal: no intact frame")
)
