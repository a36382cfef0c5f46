package store

import (
	"errors"
	"io"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// contents returns the content of every file in the test directory except the lock.
func contents(t *testing.T, fs vfs.FS) map[string]string {
	t.Helper()
	names, err := fs.List(testDir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		if name == lockName {
			continue
		}
		f, err := fs.Open(testDir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		size, err := f.Size()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(b)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A read-only store returns what Open would, without a torn end, and changes no file.
func TestReadOnly(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	for index := uint64(1); index <= 10; index++ {
		appendWait(t, s, entry(1, index, 1000, true))
	}
	if err := s.WriteCheckpoint(1, 4, func(w io.Writer) error { _, err := w.Write([]byte("four")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := readLayout(fs, testDir)
	if err != nil || len(l.segments) < 2 {
		t.Fatalf("segments %v, %v", l.segments, err)
	}
	last, err := fs.OpenReadWrite(testDir + "/" + wal.SegmentName(l.segments[len(l.segments)-1]))
	if err != nil {
		t.Fatal(err)
	}
	size, err := last.Size()
	if err != nil {
		t.Fatal(err)
	}
	if err := last.Truncate(size - 5); err != nil { // in entry 10
		t.Fatal(err)
	}
	before := contents(t, fs)

	r, err := OpenReadOnly(fs, testDir, quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(fs, testDir, quiet(Options{})); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a second opener gets %v", err)
	}
	checkpoint, after, err := r.Checkpoint(1)
	if err != nil || after != 4 {
		t.Fatalf("checkpoint at %d, %v", after, err)
	}
	if err := checkpoint.Close(); err != nil {
		t.Fatal(err)
	}
	var got []uint64
	err = r.Replay(1, after, func(index uint64, _ uint32, _ []byte) error { got = append(got, index); return nil })
	if err != nil || len(got) != 5 || got[0] != 5 || got[4] != 9 {
		t.Errorf("replayed %v, %v; want 5 to 9", got, err)
	}
	if err := appendErr(r, entry(1, 10, 10, true)); !errors.Is(err, ErrClosed) {
		t.Errorf("Append gives %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range contents(t, fs) {
		if text != before[name] {
			t.Errorf("%s was changed", name)
		}
		delete(before, name)
	}
	if len(before) > 0 {
		t.Errorf("%d files are gone", len(before))
	}
	if err := mustOpen(t, fs, Options{}).Close(); err != nil { // the lock was released
		t.Error(err)
	}
}
