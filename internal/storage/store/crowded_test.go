package store

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// crowded is a file system of a process that may open only so many more files.
type crowded struct {
	vfs.FS
	left atomic.Int64
	full atomic.Bool // no file can be opened for reading until one is closed
}

func (c *crowded) take() error {
	if c.left.Add(-1) < 0 {
		return fmt.Errorf("open: %w", syscall.EMFILE)
	}
	return nil
}

func (c *crowded) Create(path string) (vfs.File, error) {
	if err := c.take(); err != nil {
		return nil, err
	}
	return c.FS.Create(path)
}

// Open succeeds if another file was closed since the last one was refused.
func (c *crowded) Open(path string) (vfs.File, error) {
	if c.full.Load() {
		return nil, fmt.Errorf("open: %w", syscall.EMFILE)
	}
	f, err := c.FS.Open(path)
	return crowdedFile{f, c}, err
}

type crowdedFile struct {
	vfs.File
	fs *crowded
}

func (f crowdedFile) Close() error {
	f.fs.full.Store(false)
	return f.File.Close()
}

// SyncDir opens the directory.
func (c *crowded) SyncDir(dir string) error {
	if err := c.take(); err != nil {
		return err
	}
	return c.FS.SyncDir(dir)
}

// A process that has too many open files cannot start a segment. The store waits until it can, as
// when the disk is full.
func TestTooManyOpenFiles(t *testing.T) {
	const plenty = 1 << 30
	for _, left := range []int64{0, 1} { // none to create a file, or none to sync its directory
		synctest.Test(t, func(t *testing.T) {
			mem := vfs.NewMem()
			fs := &crowded{FS: mem}
			fs.left.Store(plenty)
			s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
			appendWait(t, s, entry(1, 1, 3<<10, true))
			fs.left.Store(left)
			var done []error
			s.Append([]Entry{entry(1, 2, 3<<10, true)}, func(err error) { done = append(done, err) })
			<-time.After(retryEvery / 2)
			synctest.Wait()
			if st := s.State(); st.Health != NoSpace || !errors.Is(st.Err, syscall.EMFILE) || len(done) > 0 {
				t.Fatalf("%d left: state %v, done with %v", left, st, done)
			}
			fs.left.Store(plenty)
			<-time.After(retryEvery)
			synctest.Wait()
			if st := s.State(); st.Health != Healthy || len(done) != 1 || done[0] != nil {
				t.Fatalf("%d left: state %v, done with %v", left, st, done)
			}
			closeStore(t, s)
			s = mustOpen(t, mem, Options{SegmentBytes: 4 << 10})
			if n := len(replayed(t, s, 1, 0)); n != 2 {
				t.Errorf("%d left: %d entries after reopening, want 2", left, n)
			}
			closeStore(t, s)
		})
	}
}

// The state of a replica that cannot be written for want of open files may be written later.
func TestTooManyOpenFilesForRaft(t *testing.T) {
	fs := &crowded{FS: vfs.NewMem()}
	fs.left.Store(100)
	if err := FoundReplica(fs, testDir, RaftState{Cluster: 1, Node: 1}); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, fs, Options{})
	defer closeStore(t, s)
	for _, left := range []int64{0, 1} {
		fs.left.Store(left)
		if err := s.Raft().Save(RaftState{Cluster: 1, Node: 1, Term: 2}); !errors.Is(err, ErrNoSpace) {
			t.Fatalf("%d left: %v, want ErrNoSpace", left, err)
		}
	}
	fs.left.Store(100)
	if err := s.Raft().Save(RaftState{Cluster: 1, Node: 1, Term: 2}); err != nil || s.Raft().State().Term != 2 {
		t.Errorf("with room again: %v, term %d", err, s.Raft().State().Term)
	}
}

// A read of a segment that is not open closes files that are not needed now, if there are too many.
func TestReadWithTooManyOpenFiles(t *testing.T) {
	fs := &crowded{FS: vfs.NewMem()}
	fs.left.Store(100)
	o := Options{SegmentBytes: 4 << 10}
	s := mustOpen(t, fs, o)
	for index := range uint64(4) {
		appendWait(t, s, entry(1, index+1, 3<<10, true))
	}
	closeStore(t, s)
	s = mustOpen(t, fs, o)
	defer closeStore(t, s)
	for _, full := range []bool{false, true} {
		fs.full.Store(full)
		if n := len(replayed(t, s, 1, 0)); n != 4 {
			t.Errorf("full %v: %d entries, want 4", full, n)
		}
	}
	s.files.mu.Lock()
	s.files.closeIdle(1)
	s.files.mu.Unlock()
	fs.full.Store(true)
	if n := len(replayed(t, s, 1, 0)); n != 4 {
		t.Errorf("%d entries, want 4", n)
	}
}
