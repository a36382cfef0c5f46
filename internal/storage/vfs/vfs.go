package vfs

import (
	"errors"
	"io"
	"syscall"
)

// ErrLocked is returned by FS.Lock when another process (or another opener in this one) holds the
// lock.
var ErrLocked = errors.New("vfs: locked by another process")

// IsOutOfFiles reports whether an operation did nothing because the process or the system has too
// many open files.
func IsOutOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// FS is the part of a file system that the store uses. All methods may be called concurrently.
// A created, renamed or removed name is durable only after SyncDir of its directory.
type FS interface {
	// Create opens path for reading and writing, truncated to nothing.
	Create(path string) (File, error)
	// Open opens an existing file for reading.
	Open(path string) (File, error)
	// OpenReadWrite opens an existing file for reading and writing.
	OpenReadWrite(path string) (File, error)
	Remove(path string) error
	// Rename replaces newPath if it exists.
	Rename(oldPath, newPath string) error
	// List returns the names in dir, sorted.
	List(dir string) ([]string, error)
	MkdirAll(dir string) error
	// Stat returns the size of a file in bytes; errors.Is(err, fs.ErrNotExist) if there is none.
	Stat(path string) (int64, error)
	SyncDir(dir string) error
	// Lock creates path, unless the file system is read-only, and holds an exclusive lock on it
	// until the result is closed. It does not wait: it returns ErrLocked.
	Lock(path string) (io.Closer, error)
	// Free returns the bytes that an unprivileged user can still write in the file system of dir.
	Free(dir string) (uint64, error)
}

// File is an open file. ReadAt and WriteAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Datasync makes the content and the size durable.
	Datasync() error
	// Writeback starts to write a range of bytes to the disk and waits for those before it, where
	// the system can do that. It makes nothing durable, but leaves less for Datasync.
	Writeback(from, to int64) error
	Truncate(size int64) error
	Size() (int64, error)
	Close() error
}
