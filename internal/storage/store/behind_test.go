package store

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// An entry that is only written is synced within a second, together with everything written
// meanwhile. Nothing waits for that sync, and an idle store does not sync.
func TestSyncBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &slowSync{FS: vfs.NewMem()}
		s := mustOpen(t, fs, Options{Sync: SyncOS})
		next := uint64(0)
		write := func() {
			next++
			start := time.Now()
			appendWait(t, s, entry(1, next, 10, false))
			if d := time.Since(start); d != 0 {
				t.Errorf("entry %d waited %s", next, d)
			}
		}
		durable := func() uint64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.shards[1].durable
		}
		for range 9 {
			write()
			time.Sleep(100 * time.Millisecond)
		}
		if n := s.Stats().Syncs; n != 0 {
			t.Fatalf("%d syncs within 900 ms", n)
		}
		release := fs.hold()
		time.Sleep(200 * time.Millisecond) // the sync began 100 ms ago
		write()
		time.Sleep(5 * time.Second)
		write()
		if n := durable(); n != 0 {
			t.Fatalf("entry %d is durable before the sync is over", n)
		}
		release()
		synctest.Wait()
		if n := durable(); n != 9 || s.Stats().Syncs != 1 {
			t.Fatalf("after %d syncs entry %d is durable, want 9", s.Stats().Syncs, n)
		}
		time.Sleep(1100 * time.Millisecond)
		if n := durable(); n != 11 || s.Stats().Syncs != 2 {
			t.Fatalf("after %d syncs entry %d is durable, want 11", s.Stats().Syncs, n)
		}
		time.Sleep(time.Minute)
		if n := s.Stats().Syncs; n != 2 {
			t.Fatalf("%d syncs of an idle store", n)
		}
		closeStore(t, s)
	})
}

// Segments may be sealed and started, and the store closed, during a background sync.
func TestSyncBehindWhileSegmentsRoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		fs := &slowSync{FS: mem}
		s := mustOpen(t, fs, Options{Sync: SyncOS, SegmentBytes: 4 << 10})
		for round := range uint64(3) {
			appendWait(t, s, entry(1, round*50+1, 100, false))
			release := fs.hold()
			time.Sleep(1100 * time.Millisecond)
			for i := uint64(2); i <= 50; i++ {
				s.Append([]Entry{entry(1, round*50+i, 100, false)}, func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait() // a segment cannot be sealed before that is over
			if round == 2 {
				go release()
				break
			}
			release()
			time.Sleep(3 * time.Second)
		}
		closeStore(t, s)
		s = mustOpen(t, mem, Options{SegmentBytes: 4 << 10})
		defer closeStore(t, s)
		if n := len(replayed(t, s, 1, 0)); n != 150 {
			t.Fatalf("%d entries, want 150", n)
		}
	})
}

// A failed background sync stops the store like any other failed sync, and the next sync does not
// clear the failure.
func TestSyncBehindFails(t *testing.T) {
	errDisk := errors.New("broken disk")
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewErrors(vfs.NewMem())
		s := mustOpen(t, fs, Options{Sync: SyncOS})
		appendWait(t, s, entry(1, 1, 10, false))
		fs.FailAt(fs.Count()+1, errDisk) // only this one
		time.Sleep(1100 * time.Millisecond)
		if st := s.State(); st.Health != Failed || !errors.Is(st.Err, errDisk) {
			t.Fatalf("state %v", st)
		}
		if err := appendErr(s, entry(1, 2, 10, false)); !errors.Is(err, ErrFailed) {
			t.Fatalf("Append: %v", err)
		}
		if err := s.Close(); !errors.Is(err, ErrFailed) {
			t.Fatalf("Close: %v", err)
		}
	})
}

// failOnce is a file system whose next sync waits for a signal and then fails. Later ones succeed,
// as with a kernel that reports a failure only once.
type failOnce struct {
	*slowSync
	err atomic.Pointer[error]
}

type failOnceFile struct {
	vfs.File
	fs *failOnce
}

func (f *failOnce) Create(path string) (vfs.File, error) {
	file, err := f.slowSync.Create(path)
	return failOnceFile{file, f}, err
}

func (f failOnceFile) Datasync() error {
	if err := f.fs.err.Swap(nil); err != nil {
		return errors.Join(f.File.Datasync(), *err)
	}
	return f.File.Datasync()
}

// An entry that waits for a sync is not confirmed if a background sync fails meanwhile.
func TestSyncBehindFailsUnderAPromise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &failOnce{slowSync: &slowSync{FS: vfs.NewMem()}}
		s := mustOpen(t, fs, Options{Sync: SyncOS})
		appendWait(t, s, entry(1, 1, 10, false))
		release := fs.hold()
		broken := errors.New("broken disk")
		fs.err.Store(&broken)
		time.Sleep(1100 * time.Millisecond)
		done := make(chan error, 1)
		s.Append([]Entry{entry(1, 2, 10, true)}, func(err error) { done <- err })
		synctest.Wait()
		release()
		if err := <-done; !errors.Is(err, ErrFailed) {
			t.Fatalf("the promise after a failed sync: %v", err)
		}
		s.Close() //nolint:errcheck // it has failed
	})
}

// Whenever the power fails, entries older than a second survive.
func TestSyncBehindCrash(t *testing.T) {
	for k := 1; ; k++ {
		crashed := false
		synctest.Test(t, func(t *testing.T) {
			mem := vfs.NewMem()
			fs := vfs.NewErrors(mem)
			s := mustOpen(t, fs, Options{Sync: SyncOS, SegmentBytes: 4 << 10})
			fs.CrashAt(fs.Count() + k)
			rng := rand.New(rand.NewPCG(uint64(k), 1))
			var written []time.Time
			for i := uint64(1); i <= 30 && !fs.Crashed(); i++ {
				if appendErr(s, entry(1, i, 400, false)) == nil {
					written = append(written, time.Now())
				}
				time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
			}
			crashed = fs.Crashed()
			now := time.Now()
			after := mem.CrashClone(rng)
			s.Close() //nolint:errcheck // it may have crashed
			s = mustOpen(t, after, Options{SegmentBytes: 4 << 10})
			defer closeStore(t, s)
			got := replayed(t, s, 1, 0)
			old := 0
			for _, at := range written {
				if now.Sub(at) > behindDelay+400*time.Millisecond { // the crash came before the last sleep was over
					old++
				}
			}
			if len(got) < old {
				t.Errorf("crash at %d: %d entries, want at least %d", k, len(got), old)
			}
		})
		if !crashed {
			return
		}
	}
}
