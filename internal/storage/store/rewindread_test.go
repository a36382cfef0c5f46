package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// hookFS is a file system that calls a function, which may be nil, before a read and after a change
// of a file. It calls none while one is running.
type hookFS struct {
	vfs.FS
	read, changed func()
}

type hookFile struct {
	vfs.File
	fs *hookFS
}

func (h *hookFS) call(fn func()) {
	if fn == nil {
		return
	}
	read, changed := h.read, h.changed
	h.read, h.changed = nil, nil
	fn()
	h.read, h.changed = read, changed
}

func (h *hookFS) Create(path string) (vfs.File, error) {
	f, err := h.FS.Create(path)
	return hookFile{f, h}, err
}

func (h *hookFS) Open(path string) (vfs.File, error) {
	f, err := h.FS.Open(path)
	return hookFile{f, h}, err
}

func (h *hookFS) OpenReadWrite(path string) (vfs.File, error) {
	f, err := h.FS.OpenReadWrite(path)
	return hookFile{f, h}, err
}

func (h *hookFS) Remove(path string) error {
	err := h.FS.Remove(path)
	h.call(h.changed)
	return err
}

func (f hookFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.call(f.fs.read)
	return f.File.ReadAt(p, off)
}

func (f hookFile) Truncate(size int64) error {
	err := f.File.Truncate(size)
	f.fs.call(f.fs.changed)
	return err
}

func (f hookFile) Datasync() error {
	err := f.File.Datasync()
	f.fs.call(f.fs.changed)
	return err
}

// committedReads are ways to read what is committed of a log with entries 2 to 13.
var committedReads = map[string]func(*Store) error{
	"Replay": func(s *Store) error {
		next := uint64(1)
		err := s.Replay(1, 0, func(i uint64, _ uint32, fact []byte) error {
			if i != next || string(fact) != factText(1, i, 300) {
				return fmt.Errorf("entry %d holds %q, want entry %d", i, fact, next)
			}
			next++
			return nil
		})
		if err == nil && next != 13 {
			err = fmt.Errorf("replay ends before %d", next)
		}
		return err
	},
	"Reader": func(s *Store) error {
		fact, err := s.NewReader(1).Read(12, 0)
		if err == nil && string(fact) != factText(1, 12, 300) {
			err = fmt.Errorf("entry 12 holds %q", fact)
		}
		return err
	},
	"Body": func(s *Store) error {
		fact, err := s.Body(Pos{1, 12, 0}, nil)
		if err == nil && string(fact) != factText(1, 12, 300) {
			err = fmt.Errorf("entry 12 holds %q", fact)
		}
		return err
	},
	"Entries": func(s *Store) error {
		entries, err := s.Raft().Entries(11, 14, 1<<20)
		if err == nil && (len(entries) != 3 || sameEntry(entries[2], rewindEntry(13, 2)) != nil) {
			err = fmt.Errorf("%d entries, the last one is %v", len(entries), entries[len(entries)-1].EntryID)
		}
		return err
	},
	"Special": func(s *Store) error {
		special, err := s.Raft().Special(1, s.Raft().Committed())
		if err == nil && len(special) > 0 {
			err = fmt.Errorf("special entries: %v", special)
		}
		return err
	},
	"Snapshot": func(s *Store) error {
		sn, err := s.Raft().Snapshot(func() (uint64, error) { return 13, nil })
		if err != nil {
			return err
		}
		defer sn.Close()
		return verifySnapshot(sn)
	},
}

// verifySnapshot checks that a snapshot is complete and ends with its entry.
func verifySnapshot(sn *RaftSnapshot) error {
	fs := vfs.NewMem()
	if err := FoundReplica(fs, testDir, RaftState{Cluster: 7, Node: 2}); err != nil {
		return err
	}
	s, err := Open(fs, testDir, replicaOptions())
	if err != nil {
		return err
	}
	defer s.Close()
	for _, f := range sn.Files {
		if n, err := io.Copy(io.Discard, f.Reader()); n != f.Size || err != nil {
			return fmt.Errorf("%s has %d bytes, not %d: %v", f.Name, n, f.Size, err)
		}
	}
	st, err := stage(s, sn, nil)
	if err != nil {
		return err
	}
	return st.Verify()
}

func rewindEntry(index, term uint64) RaftEntry {
	return RaftEntry{EntryID: EntryID{index, term}, Batch: []Entry{entry(1, index-1, 300, true)}}
}

// rewindStore returns a store with entries 2 to 40 in several segments. Entry 13, in the middle of
// a segment, is the last committed one.
func rewindStore(t *testing.T) (*Store, *hookFS) {
	t.Helper()
	fs := &hookFS{FS: vfs.NewMem()}
	mustFound(t, fs)
	s := openReplica(t, fs)
	for i := uint64(2); i <= 40; i++ {
		mustAppend(t, s, rewindEntry(i, 2))
	}
	s.Raft().Commit(13)
	return s, fs
}

// TestReadDuringRewind reads committed entries while the later ones are cut and replaced. The cut
// starts in the middle of a read, and a read starts at every step of the cut.
func TestReadDuringRewind(t *testing.T) {
	for name, read := range committedReads {
		for _, from := range []uint64{14, 15, 18, 40} {
			t.Run(fmt.Sprintf("%s_cut_from_%d", name, from), func(t *testing.T) {
				testCutDuringRead(t, from, read)
				testReadDuringCut(t, from, read)
			})
		}
	}
}

func testCutDuringRead(t *testing.T, from uint64, read func(*Store) error) {
	for n := 1; ; n++ {
		for _, size := range []int{0, 300, 3600} { // of the entries appended after the cut
			s, fs := rewindStore(t)
			reads := 0
			fs.read = func() {
				if reads++; reads != n {
					return
				}
				if err := s.Raft().Rewind(from); err != nil {
					t.Fatal(err)
				}
				if size > 0 {
					mustAppend(t, s, RaftEntry{EntryID: EntryID{from, 3}, Batch: []Entry{entry(1, from-1, size, true)}})
				}
			}
			err := read(s)
			fs.read = nil
			closeStore(t, s)
			if err != nil {
				t.Errorf("cut during read %d, then %d bytes: %v", n, size, err)
			}
			if reads < n {
				return
			}
		}
	}
}

func testReadDuringCut(t *testing.T, from uint64, read func(*Store) error) {
	s, fs := rewindStore(t)
	defer closeStore(t, s)
	var errs []error
	fs.changed = func() { errs = append(errs, read(s)) }
	if err := s.Raft().Rewind(from); err != nil {
		t.Fatal(err)
	}
	fs.changed = nil
	if len(errs) < 2 || errors.Join(errs...) != nil {
		t.Errorf("during the cut: %d times: %v", len(errs), slices.Compact(errs))
	}
}
