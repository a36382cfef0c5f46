package store

import (
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/storage/wal"
)

var (
	// ErrFailed says that a write or an fsync failed and that the store takes no more entries.
	ErrFailed = errors.New("store: stopped after a disk failure")
	// ErrLost says that the node has lost its leadership while the entry was open: it may be in the
	// log of the cluster or not. The log of that leadership takes no more entries. A store says it
	// only to what waits for a commit (RaftLog.Lead).
	ErrLost = errors.New("store: leadership was lost; the outcome is unknown")
	// ErrClosed says that the store was closed before the entry was durable: it may be there after
	// a restart or not.
	ErrClosed = errors.New("store: closed")
	// ErrNotFound says that there is no such fact: never written, forgotten, or cleaned away.
	ErrNotFound = errors.New("store: fact not found")
	// ErrNotWritten says that the entry is appended but not yet readable.
	ErrNotWritten = errors.New("store: entry not written yet")
	// ErrCorrupt says that the disk does not hold what was written. The message names file and
	// offset.
	ErrCorrupt = wal.ErrCorrupt
	// ErrUnsupportedFormat says that a newer version wrote the file.
	ErrUnsupportedFormat = wal.ErrUnsupportedFormat
)

// inFile names the file in an error of the format.
func inFile(name string, err error) error { return fmt.Errorf("store: %s: %w", name, err) }
