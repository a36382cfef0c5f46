package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// slowSync is a file system whose syncs block while held is set.
type slowSync struct {
	vfs.FS
	mu   sync.Mutex
	held chan struct{} // nil: syncs do not wait
}

type slowFile struct {
	vfs.File
	fs *slowSync
}

func (s *slowSync) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held = held
	return func() {
		s.mu.Lock()
		s.held = nil
		s.mu.Unlock()
		close(held)
	}
}

func (s *slowSync) Create(path string) (vfs.File, error) {
	f, err := s.FS.Create(path)
	return slowFile{f, s}, err
}

func (f slowFile) Datasync() error {
	f.fs.mu.Lock()
	held := f.fs.held
	f.fs.mu.Unlock()
	if held != nil {
		<-held
	}
	return f.File.Datasync()
}

// Commit completes everything that AppendInline appended before it returns.
func TestCommitByItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, vfs.NewMem(), Options{})
		defer closeStore(t, s)
		synctest.Wait() // the committer's goroutine sleeps
		var done []uint64
		for i := uint64(1); i <= 3; i++ {
			s.AppendInline([]Entry{entry(1, i, 10, true)}, func(err error) {
				if err != nil {
					t.Error(err)
				}
				done = append(done, i)
			})
		}
		synctest.Wait()
		if len(done) != 0 || s.Written(1) != 0 {
			t.Fatalf("before Commit: %v done, written up to %d", done, s.Written(1))
		}
		s.Commit()
		if !slices.Equal(done, []uint64{1, 2, 3}) || s.Stats().Syncs != 1 {
			t.Fatalf("after Commit: %v done with %d syncs", done, s.Stats().Syncs)
		}
		s.Commit() // nothing to do
		appendWait(t, s, entry(1, 4, 10, true))
	})
}

// Commit returns at once while another goroutine leads. The committer's goroutine then commits the
// caller's entries.
func TestCommitWhileAnotherCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &slowSync{FS: vfs.NewMem()}
		s := mustOpen(t, fs, Options{})
		defer closeStore(t, s)
		release := fs.hold()
		var mu sync.Mutex
		var done []uint64
		bring := func(i uint64) {
			s.AppendInline([]Entry{entry(1, i, 10, true)}, func(error) {
				mu.Lock()
				done = append(done, i)
				mu.Unlock()
			})
			s.Commit()
		}
		go bring(1)
		synctest.Wait()
		bring(2)
		bring(3)
		if len(done) != 0 {
			t.Fatalf("%v done before the sync was over", done)
		}
		release()
		synctest.Wait()
		if !slices.Equal(done, []uint64{1, 2, 3}) || s.Stats().Syncs != 2 {
			t.Fatalf("%v done with %d syncs", done, s.Stats().Syncs)
		}
	})
}

// A sync that Commit delayed starts in time, even if the goroutine was going to sleep longer.
func TestCommitLeavesTheSyncForLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, vfs.NewMem(), Options{Sync: SyncBatch, BatchDelay: 5 * time.Millisecond, LazySync: 50 * time.Millisecond})
		defer closeStore(t, s)
		start := time.Now()
		s.Append([]Entry{entry(1, 1, 10, false)}, func(error) {}) // due after 50 ms
		synctest.Wait()
		e := entry(1, 2, 10, false)
		e.Wait = WaitBatch
		done := make(chan time.Duration, 1)
		s.AppendInline([]Entry{e}, func(error) { done <- time.Since(start) })
		s.Commit()
		if d := <-done; d != 5*time.Millisecond {
			t.Fatalf("done after %s", d)
		}
	})
}

// While the disk is full, Commit returns and leaves everything to the committer's goroutine:
// entries of a group that is partly in the buffer, large ones, and later ones.
func TestCommitDoesNotWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		opts := Options{SegmentBytes: 4 * directBytes}
		s := mustOpen(t, fs, opts)
		var done []uint64
		bring := func(first uint64, sizes ...int) {
			var group []Entry
			for i, size := range sizes {
				group = append(group, entry(1, first+uint64(i), size, true))
			}
			s.AppendInline(group, func(err error) {
				if err != nil {
					t.Errorf("entry %d: %v", first, err)
				}
				done = append(done, first)
			})
			s.Commit()
		}
		bring(1, 10)
		fs.SetFull(true)
		bring(2, 10, directBytes, 10, 2*directBytes, 20)
		bring(7, directBytes)
		bring(8, 2*directBytes, 10) // in the next segment
		synctest.Wait()
		if !slices.Equal(done, []uint64{1}) || s.State().Health != NoSpace {
			t.Fatalf("%v done, state %v", done, s.State())
		}
		fs.SetFull(false)
		<-time.After(2 * retryEvery)
		synctest.Wait()
		if !slices.Equal(done, []uint64{1, 2, 7, 8}) || s.State().Health != Healthy {
			t.Fatalf("%v done, state %v", done, s.State())
		}
		bring(10, 2*directBytes)
		bring(11, 3*directBytes) // in another segment
		synctest.Wait()
		synctest.Wait()
		if len(done) != 6 {
			t.Fatalf("%v done", done)
		}
		want := replayed(t, s, 1, 0)
		closeStore(t, s)
		s = mustOpen(t, mem, opts)
		defer closeStore(t, s)
		if got := replayed(t, s, 1, 0); len(got) != 11 || !slices.Equal(got, want) {
			t.Errorf("%d entries after a start, %d before", len(got), len(want))
		}
	})
}

// Closing a store whose disk is full ends a waiting Commit.
func TestCloseEndsCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewErrors(vfs.NewMem())
		s := mustOpen(t, fs, Options{})
		fs.SetFull(true)
		var got error
		committed := make(chan struct{})
		go func() {
			s.AppendInline([]Entry{entry(1, 1, 10, true)}, func(err error) { got = err })
			s.Commit()
			close(committed)
		}()
		synctest.Wait()
		if s.State().Health != NoSpace {
			t.Fatalf("state %v", s.State())
		}
		s.Close() //nolint:errcheck // it reports that the disk is full
		<-committed
		if !errors.Is(got, ErrClosed) {
			t.Fatalf("done with %v", got)
		}
		if err := appendErr(s, entry(1, 2, 10, true)); !errors.Is(err, ErrClosed) {
			t.Fatalf("Append after Close: %v", err)
		}
	})
}

// Many goroutines call Commit while others only append. Every done is called, in order, and
// everything is in the log.
func TestCommitsAndAppends(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, mem, Options{SegmentBytes: 16 << 10})
	const each = 200
	var wg sync.WaitGroup
	for shard := uint32(1); shard <= 6; shard++ {
		wg.Go(func() {
			next := uint64(1)
			for i := uint64(1); i <= each; i++ {
				done := make(chan error, 1)
				fn := func(err error) {
					if next != i {
						err = fmt.Errorf("done of %d before that of %d", i, next)
					}
					next++
					done <- err
				}
				group := []Entry{entry(shard, i, 100, i%3 == 0)}
				if shard%2 == 0 {
					s.Append(group, fn)
				} else {
					s.AppendInline(group, fn)
					s.Commit()
				}
				if err := <-done; err != nil {
					t.Errorf("shard %d, entry %d: %v", shard, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	closeStore(t, s)
	s = mustOpen(t, mem, Options{SegmentBytes: 16 << 10})
	defer closeStore(t, s)
	for shard := uint32(1); shard <= 6; shard++ {
		if n := len(replayed(t, s, shard, 0)); n != each {
			t.Errorf("shard %d: %d entries", shard, n)
		}
	}
}
