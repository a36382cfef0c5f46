package store

import (
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/storage/wal"
)

var (
	// ErrFailed means that a write or an fsync failed and the store accepts no more entries.
	ErrFailed = errors.New("store: stopped after a disk failure")
	// ErrLost means that the node lost its leadership before the entry was committed, so the
	// cluster may or may not have it. The log of that leadership accepts no more entries. A store
	// returns it only to callers that wait for a commit (RaftLog.Lead).
	ErrLost = errors.New("store: leadership was lost; the outcome is unknown")
	// ErrClosed means that the store was closed before the entry was durable. After a restart the
	// entry may or may not be there.
	ErrClosed = errors.New("store: closed")
	// ErrNotFound means that there is no such fact: never written, forgotten, or cleaned.
	ErrNotFound = errors.New("store: fact not found")
	// ErrNotWritten means that the entry is appended but not yet readable.
	ErrNotWritten = errors.New("store: entry not written yet")
	// ErrCorrupt means that the disk lacks what was written. The text names file and offset.
	ErrCorrupt = wal.ErrCorrupt
	// ErrUnsupportedFormat means that a newer version wrote the file.
	ErrUnsupportedFormat = wal.ErrUnsupportedFormat
)

// inFile adds the file's name to a format error.
func inFile(name string, err error) error { return fmt.Errorf("store: %s: %w", name, err) }
