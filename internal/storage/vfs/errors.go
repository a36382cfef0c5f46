package vfs

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// ErrCrashed is returned by every operation after the crash point of an Errors file system.
var ErrCrashed = errors.New("vfs: crashed")

// Errors passes operations on to another file system and makes chosen ones fail. Operations that
// change the disk (create, write, truncate, sync, rename, remove, sync of a directory) are counted
// from 1.
type Errors struct {
	fs FS

	mu      sync.Mutex
	count   int
	failAt  int
	failErr error
	crashAt int
	full    bool
	syncErr error
}

// NewErrors wraps fs. No operation fails until a method below requests it.
func NewErrors(fs FS) *Errors { return &Errors{fs: fs} }

// Base returns the wrapped file system.
func (e *Errors) Base() FS { return e.fs }

// FailAt makes the k-th changing operation from the start fail with err. A failing write writes
// half of its bytes.
func (e *Errors) FailAt(k int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failAt, e.failErr = k, err
}

// CrashAt makes the k-th changing operation and all operations after it fail with ErrCrashed.
func (e *Errors) CrashAt(k int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.crashAt = k
}

// SetFull makes creates and writes fail with ENOSPC until it is called with false.
func (e *Errors) SetFull(full bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.full = full
}

// FailSync makes every Datasync and SyncDir fail with err; nil ends that.
func (e *Errors) FailSync(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.syncErr = err
}

// Count returns the number of changing operations so far.
func (e *Errors) Count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.count
}

// Crashed reports whether the crash point was reached.
func (e *Errors) Crashed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.crashAt > 0 && e.count >= e.crashAt
}

type opKind uint8

const (
	opRead   opKind = iota
	opChange        // changes the disk and needs no space
	opGrow          // needs space
	opSync
)

func (e *Errors) before(kind opKind) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.crashAt > 0 && e.count >= e.crashAt {
		e.count++
		return ErrCrashed
	}
	if kind == opRead {
		return nil
	}
	e.count++
	switch {
	case e.crashAt > 0 && e.count >= e.crashAt:
		return ErrCrashed
	case e.count == e.failAt:
		return e.failErr
	case kind == opGrow && e.full:
		return syscall.ENOSPC
	case kind == opSync:
		return e.syncErr
	}
	return nil
}

func (e *Errors) Create(path string) (File, error) {
	if err := e.before(opGrow); err != nil {
		return nil, err
	}
	return e.wrap(e.fs.Create(path))
}

func (e *Errors) Open(path string) (File, error) {
	if err := e.before(opRead); err != nil {
		return nil, err
	}
	return e.wrap(e.fs.Open(path))
}

func (e *Errors) OpenReadWrite(path string) (File, error) {
	if err := e.before(opRead); err != nil {
		return nil, err
	}
	return e.wrap(e.fs.OpenReadWrite(path))
}

func (e *Errors) wrap(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &errorsFile{File: f, e: e}, nil
}

func (e *Errors) Remove(path string) error {
	if err := e.before(opChange); err != nil {
		return err
	}
	return e.fs.Remove(path)
}

func (e *Errors) Rename(oldPath, newPath string) error {
	if err := e.before(opChange); err != nil {
		return err
	}
	return e.fs.Rename(oldPath, newPath)
}

func (e *Errors) List(dir string) ([]string, error) {
	if err := e.before(opRead); err != nil {
		return nil, err
	}
	return e.fs.List(dir)
}

func (e *Errors) MkdirAll(dir string) error {
	if err := e.before(opChange); err != nil {
		return err
	}
	return e.fs.MkdirAll(dir)
}

func (e *Errors) Stat(path string) (int64, error) {
	if err := e.before(opRead); err != nil {
		return 0, err
	}
	return e.fs.Stat(path)
}

func (e *Errors) SyncDir(dir string) error {
	if err := e.before(opSync); err != nil {
		return err
	}
	return e.fs.SyncDir(dir)
}

func (e *Errors) Lock(path string) (io.Closer, error) { return e.fs.Lock(path) }

func (e *Errors) Free(dir string) (uint64, error) { return e.fs.Free(dir) }

type errorsFile struct {
	File
	e *Errors
}

func (f *errorsFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.e.before(opRead); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *errorsFile) WriteAt(p []byte, off int64) (int, error) {
	err := f.e.before(opGrow)
	if err == nil {
		return f.File.WriteAt(p, off)
	}
	if f.e.refused() {
		return 0, err
	}
	n, werr := f.File.WriteAt(p[:len(p)/2], off)
	return n, errors.Join(err, werr)
}

// refused distinguishes a write after the crash, which writes nothing, from the write that failed
// or crashed half-way.
func (e *Errors) refused() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.crashAt > 0 && e.count > e.crashAt
}

func (f *errorsFile) Datasync() error {
	if err := f.e.before(opSync); err != nil {
		return err
	}
	return f.File.Datasync()
}

func (f *errorsFile) Writeback(from, to int64) error {
	if err := f.e.before(opSync); err != nil {
		return err
	}
	return f.File.Writeback(from, to)
}

func (f *errorsFile) Truncate(size int64) error {
	if err := f.e.before(opChange); err != nil {
		return err
	}
	return f.File.Truncate(size)
}
