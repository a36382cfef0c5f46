package store

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// unpack returns a function that writes the files of a snapshot.
func unpack(sn *Snapshot) func(*Staged) error {
	return func(st *Staged) error {
		for i := range sn.Files {
			f := &sn.Files[i]
			if err := st.Create(f.Name); err != nil {
				return err
			}
			if err := f.Copy(st); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestRestore crashes the machine at every operation of a restore: the whole backup is there, or
// nothing and the restore can be repeated. The result opens as a single node, may be repaired, and
// becomes a cluster node.
func TestRestore(t *testing.T) {
	from := sender(t)
	defer from.Close()
	sn, err := from.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		err := Restore(fs, testDir, unpack(sn))
		after := mem.CrashClone(rand.New(rand.NewPCG(uint64(k), 1)))
		is, lerr := LookInto(after, testDir)
		if lerr != nil || err == nil && is.Empty {
			t.Fatalf("crash at %d: %+v, %v, %v", k, is, err, lerr)
		}
		if is.Empty {
			if err := Restore(after, testDir, unpack(sn)); err != nil {
				t.Fatalf("crash at %d: restored again: %v", k, err)
			}
		}
		if report, err := Repair(after, testDir); err != nil || len(report.Damage)+len(report.Missing) > 0 {
			t.Fatalf("crash at %d: %+v, %v", k, report, err)
		}
		s := mustOpen(t, after, Options{})
		if got := replayed(t, s, 1, 10); len(got) != 20 || s.Raft() != nil {
			t.Fatalf("crash at %d: %d entries", k, len(got))
		}
		closeStore(t, s)
		foundAgain(t, after)
		if err == nil {
			return
		}
	}
}

// TestWrongRestore: Restore refuses a directory with data, and an incomplete backup.
func TestWrongRestore(t *testing.T) {
	from := sender(t)
	defer from.Close()
	sn, err := from.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	for name, wrong := range map[string]struct {
		before func(fs vfs.FS)
		unpack func(*Staged) error
		err    error
	}{
		"over a single node": {func(fs vfs.FS) {
			s := mustOpen(t, fs, Options{})
			appendWait(t, s, entry(1, 1, 10, true))
			closeStore(t, s)
		}, unpack(sn), ErrNotEmpty},
		"over a replica": {func(fs vfs.FS) { mustFound(t, fs) }, unpack(sn), ErrNotEmpty},
		"another file":   {nil, func(st *Staged) error { return st.Create("../x") }, ErrCorrupt},
		"a file missing": {nil, unpack(&Snapshot{Files: sn.Files[1:]}), ErrCorrupt},
		"cut off": {nil, func(st *Staged) error {
			return errors.Join(unpack(&Snapshot{Files: sn.Files[:len(sn.Files)-1]})(st), io.ErrUnexpectedEOF)
		}, io.ErrUnexpectedEOF},
		"no log": {nil, func(*Staged) error { return nil }, ErrCorrupt},
	} {
		fs := vfs.NewMem()
		if wrong.before != nil {
			wrong.before(fs)
		}
		was, err := LookInto(fs, testDir)
		if err != nil {
			t.Fatal(err)
		}
		if err := Restore(fs, testDir, wrong.unpack); !errors.Is(err, wrong.err) {
			t.Errorf("%s: %v", name, err)
		}
		if is, err := LookInto(fs, testDir); err != nil || !reflect.DeepEqual(is, was) {
			t.Errorf("%s: %+v, %v", name, is, err)
		}
	}
}

// TestWrongRestoreLeavesNothing: after an error an empty directory is empty again, and one that an
// earlier store has locked keeps its lock file.
func TestWrongRestoreLeavesNothing(t *testing.T) {
	for name, before := range map[string][]string{"empty": nil, "with a lock file": {lockName}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range before {
				must(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
			}
			err := Restore(vfs.OS{}, dir, func(st *Staged) error {
				return errors.Join(st.Create(wal.SegmentName(1)), io.ErrUnexpectedEOF)
			})
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			left, err := vfs.OS{}.List(dir)
			must(t, err)
			if !slices.Equal(left, before) {
				t.Errorf("left: %q", left)
			}
		})
	}
}
