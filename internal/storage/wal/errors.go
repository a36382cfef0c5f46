package wal

import "errors"

var (
	// ErrCorrupt says that bytes which were durable are not what was written. The message names
	// file and offset.
	ErrCorrupt = errors.New("wal: corrupt")
	// ErrUnsupportedFormat says that a newer version of the program wrote this: nothing is damaged.
	ErrUnsupportedFormat = errors.New("wal: unsupported format version")
	// ErrUnknownKind says that a frame is intact but of a kind this version does not know; it
	// cannot be skipped.
	ErrUnknownKind = errors.New("wal: unknown frame kind")
	// ErrBadFrame says that there is no intact frame at an offset: the log ends there or is damaged
	// there.
	ErrBadFrame = errors.New("wal: no intact frame")
)
