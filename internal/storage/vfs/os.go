package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// OS is the file system of the operating system.
type OS struct{}

type osFile struct{ *os.File }

func (OS) Create(path string) (File, error) {
	return openOS(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (OS) Open(path string) (File, error) { return openOS(path, os.O_RDONLY) }

func (OS) OpenReadWrite(path string) (File, error) { return openOS(path, os.O_RDWR) }

// openOS keeps a nil *os.File out of the File interface.
func openOS(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (OS) Remove(path string) error { return os.Remove(path) }

func (OS) Rename(oldPath, newPath string) error { return os.Rename(oldPath, newPath) }

func (OS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

func (OS) Stat(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

func (OS) Lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EROFS) {
		f, err = os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return io.NopCloser(nil), nil // a process that has opened the folder would have created it
		}
	}
	if err != nil {
		return nil, err
	}
	if err = flock(f); err == nil && !same(f, path) {
		err = ErrLocked
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("vfs: lock %s: %w", path, err)
	}
	return f, nil
}

// same reports whether path still names f. Its last holder may have removed it.
func same(f *os.File, path string) bool {
	a, err := f.Stat()
	b, errPath := os.Stat(path)
	return err == nil && errPath == nil && os.SameFile(a, b)
}

func (OS) Free(dir string) (uint64, error) { return freeBytes(dir) }

func (f osFile) Datasync() error { return datasync(f.File) }

func (f osFile) Writeback(from, to int64) error { return writeback(f.File, from, to) }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
