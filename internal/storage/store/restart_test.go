package store

import (
	"io"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// countingFS counts the bytes read.
type countingFS struct {
	vfs.FS
	read atomic.Int64
}

type countingFile struct {
	vfs.File
	fs *countingFS
}

func (c *countingFS) Open(path string) (vfs.File, error) { return c.wrap(c.FS.Open(path)) }

func (c *countingFS) OpenReadWrite(path string) (vfs.File, error) {
	return c.wrap(c.FS.OpenReadWrite(path))
}

func (c *countingFS) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return countingFile{f, c}, nil
}

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.fs.read.Add(int64(n))
	return n, err
}

// TestRestartReadsFootersOnly: a log with many sealed segments opens without reading them in full,
// and replay from a checkpoint reads only what follows it.
func TestRestartReadsFootersOnly(t *testing.T) {
	fs := &countingFS{FS: vfs.NewMem()}
	const segment = 256 << 10
	s := mustOpen(t, fs, Options{SegmentBytes: segment, Sync: SyncOS})
	const entries = 2000
	for i := uint64(1); i <= entries; i++ {
		appendWait(t, s, entry(1, i, 4000, false))
	}
	if err := s.WriteCheckpoint(1, entries-10, writeText("x")); err != nil {
		t.Fatal(err)
	}
	total := s.Stats().Bytes
	closeStore(t, s)
	fs.read.Store(0)
	s = mustOpen(t, fs, Options{SegmentBytes: segment})
	defer closeStore(t, s)
	opened := fs.read.Load()
	r, index, err := s.Checkpoint(1)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, r)
	r.Close()
	if got := replayed(t, s, 1, index); len(got) != 10 {
		t.Fatalf("%d facts replayed", len(got))
	}
	if all := fs.read.Load(); opened > 2*segment || all > 5*segment {
		t.Fatalf("%d bytes read to open and %d in all, of a log of %d", opened, all, total)
	}
}
